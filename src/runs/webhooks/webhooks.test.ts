import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type ListenOptions, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import { createLogger } from '../../base/log.ts'
import { createMetrics } from '../../base/metrics.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { RUN_KWARGS } from '../../../test/support/runs/run-store.ts'
import type { Run } from '../model.ts'
import { ANY_WEBHOOK } from './rules.ts'
import type { WebhookDue, WebhookStore } from './store.ts'
import { startWebhooks, type WebhookOptions } from './webhooks.ts'
import { someInShort } from '../../../test/support/length.ts'
import { newFolder } from '../../../test/support/folder.ts'

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
    kwargs: { ...RUN_KWARGS, webhook, on_completion: 'keep' },
    multitask_strategy: 'enqueue',
    attempt: 1,
    caller: { user_id: null, api_key_id: '' },
    trace_id: null,
    revision_id: null,
    error: { error: 'ValueError', message: 'no' },
    partial_messages: null,
    interrupted: false,
  }
}

/** Starts a receiver that answers with these statuses in order, and then always with the last one. */
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

/** A webhook store in memory, filled by the test instead of the run store. */
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

/** A receiver whose connections are handled by `take`. */
async function startRawReceiver(take: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket.on('error', () => undefined))
    take(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}/hook`
}

type OpenOptions = Partial<Pick<WebhookOptions, 'allowPrivate' | 'rules' | 'appSocket' | 'timeoutMs'>>

function openWebhooks(options: OpenOptions = {}) {
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

const UPGRADE = 'Connection: upgrade\r\nUpgrade: other'

function drip(socket: Socket, text: string): void {
  let at = 0
  const timer = setInterval(() => {
    if (socket.destroyed) clearInterval(timer)
    else socket.write(text[at++] ?? '')
  }, 10)
}

/** Ways to write the address of this machine in a URL. */
const SPELLINGS = [
  '127.0.0.1',
  'localhost',
  'LOCALHOST',
  '127.1',
  '2130706433',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '①②⑦.0.0.1',
  '0',
  '[::1]',
  '[::ffff:7f00:1]',
  '[::ffff:127.0.0.1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[2002:7f00:1::]',
]

describe('webhooks', () => {
  it('HOOK-5: contain the run with its values, signed by the Standard Webhooks specification', async () => {
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

  it('HOOK-4: are sent again until the receiver accepts them', async () => {
    const { url, received } = await startReceiver(500, 302, 204)
    const { send, outcome } = openWebhooks()
    send(url, null)
    await eventually(async () => expect(outcome('delivered')).toBe(true))
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(received.length).toBe(3)
  })

  it('HOOK-4: are given up after the last try, and at once after a 410', async () => {
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

  it('that are being sent when the server stops are due at once at its next start', async () => {
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

  it("HOOK-8: have the deployment's headers, which cannot replace the signature", async () => {
    const { url, received } = await startReceiver(200)
    const { send, outcome } = openWebhooks({ rules: { ...ANY_WEBHOOK, headers: { 'x-team': 'red' } } })
    send(url, null)
    await eventually(async () => expect(outcome('delivered')).toBe(true))
    expect(received[0]?.headers).toMatchObject({ 'x-team': 'red', 'content-type': 'application/json' })
  })

  it('are not sent if the rules no longer allow it', async () => {
    const { url, received } = await startReceiver(200)
    const rules = { ...ANY_WEBHOOK, allowed_domains: ['example.com'] }
    const { send, outcome, log } = openWebhooks({ rules })
    send(url, null)
    await eventually(async () => expect(outcome('refused')).toBe(true))
    expect(log()).toContain('langgraph.json')
    expect(received).toEqual([])
  })

  it('HOOK-9: whose URL is a path go to the HTTP app only, signed and retried like others', async () => {
    const folder = await newFolder()
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

  it('that wait for a loading HTTP app end when the server stops', async () => {
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

  it('follow no redirect: to another host, another protocol or themselves', async () => {
    const elsewhere = await startReceiver(200)
    const redirects = [307, 308, 301].map((status, n) => async () => {
      let asked = 0
      const place: string = await startRawReceiver((socket) => {
        asked++
        const to = [elsewhere.url, 'file:///etc/passwd', `http://${place}`][n]
        socket.end(`HTTP/1.1 ${status} Moved\r\nLocation: ${to}\r\nContent-Length: 0\r\n\r\n`)
      })
      const { send, outcome } = openWebhooks()
      send(`http://${place}`, null)
      await eventually(async () => expect(outcome('failed')).toBe(true))
      expect(asked).toBe(3)
    })
    for (const redirect of redirects) await redirect()
    expect(elsewhere.received).toEqual([])
  })

  it.each(
    someInShort<[string, string, (socket: Socket) => void]>(
      [
        ['changes the protocol', 'http', (socket) => socket.write(`HTTP/1.1 101 Go\r\n${UPGRADE}\r\n\r\n`)],
        ['is no HTTP', 'http', (socket) => socket.write('220 mail.example.com ESMTP\r\n')],
        [
          'has endless headers',
          'http',
          (socket) => socket.write(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(99_999)}`),
        ],
        ['drips', 'http', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\n'.repeat(9_999))],
        ['never comes', 'http', () => undefined],
        ['is a TLS handshake that never ends', 'https', () => undefined],
        ['ends the connection', 'https', (socket) => socket.destroy()],
      ],
      2,
    ),
  )('whose answer %s are given up after the time limit of a try', async (_what, protocol, take) => {
    const place = await startRawReceiver((socket) => socket.once('data', () => take(socket)))
    const { webhooks, send, outcome } = openWebhooks({ timeoutMs: 300 })
    send(`${protocol}://${place}`, null)
    await eventually(async () => expect(outcome('failed')).toBe(true))
    await webhooks.stop()
  })

  it('with a huge response are delivered: the response is not read', async () => {
    let sent = 0
    const place = await startRawReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n')
      const more = (error?: unknown): void => {
        if (error instanceof Error || sent >= 1 << 30) return
        sent += 65_536
        socket.write('x'.repeat(65_536), more)
      }
      socket.once('data', () => more())
    })
    const { webhooks, send, outcome } = openWebhooks()
    send(`http://${place}`, null)
    await eventually(async () => expect(outcome('delivered')).toBe(true))
    await webhooks.stop()
    expect(sent).toBeLessThan(64 << 20)
  })

  it('HOOK-6: are not sent to private addresses, by number or by name', async () => {
    const { url, received } = await startReceiver(200)
    for (const host of SPELLINGS) {
      const target = url.replace('127.0.0.1', host)
      const { send, outcome, log } = openWebhooks({ allowPrivate: false })
      send(target, null)
      await eventually(async () => expect(outcome('refused'), target).toBe(true))
      expect(log(), target).toContain('WEBHOOK_PRIVATE_ADDRESSES')
    }
    expect(received).toEqual([])
  })
})
