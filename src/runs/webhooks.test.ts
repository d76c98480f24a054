import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo, ListenOptions } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../base/clock.ts'
import { createLogger } from '../base/log.ts'
import { createMetrics } from '../base/metrics.ts'
import { eventually } from '../../test/support/eventually.ts'
import type { Run } from './model.ts'
import { createPublicAddressCheck } from './public-address.ts'
import { ANY_WEBHOOK } from './webhook-rules.ts'
import type { WebhookDue, WebhookStore } from './webhook-store.ts'
import { startWebhooks, type WebhookOptions } from './webhooks.ts'

const SECRET = `whsec_${Buffer.from('a secret of some length').toString('base64')}`

function endedRun(webhook: string): Run {
  return {
    run_id: '01a1f831-38cd-7000-8000-000000000001',
    thread_id: '01a1f831-38cd-7000-8000-000000000002',
    assistant_id: 'fe096781-5601-53d2-b2f6-0d3403f7e9ca',
    graph_id: 'agent',
    status: 'error',
    created_at: 0,
    updated_at: 2000,
    due_at: 0,
    started_at: 1000,
    ended_at: 2000,
    metadata: {},
    kwargs: {
      input: null,
      command: null,
      config: {},
      context: {},
      stream_mode: ['values'],
      subgraphs: false,
      resumable: false,
      temporary: false,
      interrupt_before: null,
      interrupt_after: null,
      checkpoint: null,
      durability: 'async',
      webhook,
      on_completion: 'keep',
    },
    multitask_strategy: 'enqueue',
    attempt: 1,
    caller: { user_id: null, api_key_id: '' },
    trace_id: null,
    error: { error: 'ValueError', message: 'no' },
    partial_messages: null,
    interrupted: false,
  }
}

/** A receiver that answers with these statuses, the last one for ever. */
async function startReceiver(...statuses: number[]) {
  return startReceiverAt({ port: 0, host: '127.0.0.1' }, ...statuses)
}

async function startReceiverAt(place: ListenOptions, ...statuses: number[]) {
  const received: { url: string | undefined; headers: IncomingMessage['headers']; body: string }[] = []
  const server = createServer((req, res) => {
    void (async () => {
      let body = ''
      for await (const chunk of req.setEncoding('utf8')) body += chunk
      received.push({ url: req.url, headers: req.headers, body })
      res.writeHead(statuses[Math.min(received.length, statuses.length) - 1] ?? 200).end('thanks')
    })()
  })
  server.listen(place)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received }
}

/** What the run store would have made due, in memory. */
function webhooksInMemory(): WebhookStore & {
  due: WebhookDue[]
  add(url: string, values_json: string | null): void
} {
  const due: WebhookDue[] = []
  return {
    due,
    add(url, values_json) {
      const tenant = { workspace_id: 'w', deployment_id: 'd' }
      due.push({ ...tenant, url, run: endedRun(url), values_json, tries: 0, due_at: 0 })
    },
    recover: async () => undefined,
    async take(_deployments, limit, { lease_ms }) {
      const taken = due.filter(({ due_at }) => due_at <= Date.now()).slice(0, limit)
      for (const webhook of taken) webhook.due_at = Date.now() + lease_ms
      return taken.map((webhook) => ({ ...webhook }))
    },
    async remove({ url }) {
      due.splice(
        due.findIndex((webhook) => webhook.url === url),
        1,
      )
    },
    async putOff({ url }, due_at, tries) {
      const kept = due.find((webhook) => webhook.url === url)
      if (kept !== undefined) Object.assign(kept, { due_at, tries })
    },
    nextDue: async () => due.map(({ due_at }) => due_at).sort((a, b) => a - b)[0],
    sweep: async () => 0,
  }
}

function openWebhooks(options: Partial<Pick<WebhookOptions, 'allowPrivate' | 'rules' | 'appSocket'>> = {}) {
  const metrics = createMetrics()
  const store = webhooksInMemory()
  let log = ''
  const webhooks = startWebhooks({
    store,
    deployments: ['d'],
    owner: 'o',
    rules: ANY_WEBHOOK,
    secret: SECRET,
    allowPrivate: true,
    clock: systemClock,
    logger: createLogger({ destination: { write: (line) => void (log += line) } }),
    metrics,
    pausesMs: [1, 1],
    ...options,
  })
  onTestFinished(() => webhooks.stop())
  const send = (url: string, values_json: string | null): void => {
    store.add(url, values_json)
    webhooks.ended(endedRun(url))
  }
  return {
    webhooks,
    store,
    send,
    outcome: (name: string) => metrics.render().includes(`outcome="${name}"} 1`),
    log: () => log,
  }
}

describe('webhooks', () => {
  it('tell the run with its values, signed as Standard Webhooks says', async () => {
    const { url, received } = await startReceiver(200)
    const { send, outcome } = openWebhooks()
    send(url, '{"n":1}')
    await eventually(async () => expect(outcome('delivered')).toBe(true))
    const { headers, body } = received[0] ?? { url: '', headers: {}, body: '' }
    expect(JSON.parse(body)).toMatchObject({
      status: 'error',
      values: { n: 1 },
      error: { error: 'ValueError', message: 'no' },
      run_started_at: '1970-01-01T00:00:01.000Z',
      run_ended_at: '1970-01-01T00:00:02.000Z',
    })
    const signed = [headers['webhook-id'], headers['webhook-timestamp'], body].join('.')
    const expected = createHmac('sha256', 'a secret of some length').update(signed).digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${expected}`)
  })

  it('are told again until somebody takes them', async () => {
    const { url, received } = await startReceiver(500, 302, 204)
    const { send, outcome } = openWebhooks()
    send(url, null)
    await eventually(async () => expect(outcome('delivered')).toBe(true))
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(received.length).toBe(3)
  })

  it('are given up after the last try, and at once when gone', async () => {
    const failing = await startReceiver(500)
    const first = openWebhooks()
    first.send(failing.url, null)
    await eventually(async () => expect(first.outcome('failed')).toBe(true))
    expect(failing.received.length).toBe(3)
    const gone = await startReceiver(410)
    first.send(gone.url, null)
    await eventually(async () => expect(first.outcome('refused')).toBe(true))
    expect(gone.received.length).toBe(1)
    expect(first.log()).toContain('answered with 410')
  })

  it('that are being told when the server stops are due at once at its next start', async () => {
    const server = createServer(() => undefined)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => server.close().closeAllConnections())
    const { webhooks, store, send } = openWebhooks()
    const asked = once(server, 'request')
    send(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, null)
    await asked
    await webhooks.stop()
    expect(store.due).toMatchObject([{ tries: 0 }])
    expect(store.due[0]?.due_at).toBeLessThanOrEqual(Date.now())
  })

  it("carry the deployment's headers, and never in place of the signature", async () => {
    const { url, received } = await startReceiver(200)
    const { send, outcome } = openWebhooks({ rules: { ...ANY_WEBHOOK, headers: { 'x-team': 'red' } } })
    send(url, null)
    await eventually(async () => expect(outcome('delivered')).toBe(true))
    expect(received[0]?.headers).toMatchObject({ 'x-team': 'red', 'content-type': 'application/json' })
  })

  it('are not called where the rules no longer allow it', async () => {
    const { url, received } = await startReceiver(200)
    const rules = { ...ANY_WEBHOOK, allowed_domains: ['example.com'] }
    const { send, outcome, log } = openWebhooks({ rules })
    send(url, null)
    await eventually(async () => expect(outcome('refused')).toBe(true))
    expect(log()).toContain('langgraph.json')
    expect(received).toEqual([])
  })

  it('whose URL is a path are for the HTTP app alone, signed and told again as others are', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'weir-hook-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const socket = join(folder, 'app')
    const { received } = await startReceiverAt({ path: socket }, 500, 204)
    let opened = 0
    const appSocket = async (): Promise<string> => {
      if (++opened === 1) throw new Error('cannot be loaded')
      return socket
    }
    const rules = { ...ANY_WEBHOOK, takes_paths: true }
    const { send, outcome } = openWebhooks({ rules, allowPrivate: false, appSocket })
    send('/hook?x=1', null)
    await eventually(async () => expect(outcome('delivered')).toBe(true))
    expect(received.map(({ url }) => url)).toEqual(['/hook?x=1', '/hook?x=1'])
    expect(received[0]?.headers).toMatchObject({
      host: 'localhost',
      'x-weir-webhook': 'run',
      'webhook-signature': expect.stringMatching(/^v1,/),
    })

    const without = openWebhooks()
    without.send('/hook', null)
    await eventually(async () => expect(without.outcome('refused')).toBe(true))
  })

  it('wait for an HTTP app that is being loaded no longer than the server runs', async () => {
    const rules = { ...ANY_WEBHOOK, takes_paths: true }
    const { promise: asked, resolve } = Promise.withResolvers<void>()
    const appSocket = async (): Promise<string> => {
      resolve()
      return new Promise(() => undefined)
    }
    const { webhooks, store, send } = openWebhooks({ rules, appSocket })
    send('/hook', null)
    await asked
    await webhooks.stop()
    expect(store.due).toMatchObject([{ tries: 0 }])
  })

  it('do not call private addresses, by number or by name', async () => {
    const { url, received } = await startReceiver(200)
    for (const target of [
      url,
      url.replace('127.0.0.1', 'localhost'),
      url.replace('127.0.0.1', '[::ffff:7f00:1]'),
    ]) {
      const { send, outcome, log } = openWebhooks({ allowPrivate: false })
      send(target, null)
      await eventually(async () => expect(outcome('refused'), target).toBe(true))
      expect(log(), target).toContain('WEBHOOK_PRIVATE_ADDRESSES')
    }
    expect(received).toEqual([])
  })
})

it('public addresses are those of the internet', () => {
  const isPublic = createPublicAddressCheck()
  const no = [
    '127.0.0.1',
    '10.1.2.3',
    '172.31.255.255',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
  ]
  const neither = [
    '::1',
    '::',
    'fe80::1',
    'fd00::1',
    '::ffff:127.0.0.1',
    '::ffff:a00:1',
    '64:ff9b::7f00:1',
    'x',
  ]
  expect([...no, ...neither].filter(isPublic)).toEqual([])
  const yes = ['1.1.1.1', '172.32.0.1', '2606:4700::1111', '::ffff:1.1.1.1']
  expect(yes.filter(isPublic)).toEqual(yes)
})
