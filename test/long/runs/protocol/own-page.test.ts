import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { startWeir, type WeirProcess } from '../../../support/servers/server.ts'
import { HAS_BROWSER, NO_BROWSER, signIn, useInterface } from '../../../support/servers/web-interface.ts'
import { LONG_MS } from '../../../support/campaign.ts'

// Many runs, and values of many megabytes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const NAME = 'own-page'
const MOUNT = `/deployments/${NAME}`

/** Starts a run from a page, over SSE or a WebSocket of protocol v2. Resolves with the lifecycle events of the run. */
async function runInPage({ base, thread_id, transport }: Record<string, string>): Promise<string[]> {
  const thread = `${base}/threads/${thread_id}`
  const json = { method: 'POST', headers: { 'content-type': 'application/json' } }
  const channels = ['values', 'lifecycle']
  const seen: string[] = []
  const ended = (texts: readonly string[]): boolean => {
    for (const text of texts) {
      const { method, params } = JSON.parse(text) as {
        method?: string
        params?: { namespace: string[]; data: { event: string } }
      }
      if (method === 'lifecycle' && params?.namespace.length === 0) seen.push(params.data.event)
    }
    return seen.some((event) => event !== 'running')
  }
  const start = async (): Promise<void> => {
    const params = { assistant_id: 'chat', input: { messages: [{ role: 'user', content: 'hi' }] } }
    const body = JSON.stringify({ id: 1, method: 'run.start', params })
    const answer = (await (await fetch(`${thread}/commands`, { ...json, body })).json()) as { type: string }
    if (answer.type !== 'success') throw new Error(JSON.stringify(answer))
  }
  if (transport === 'socket') {
    const socket = new WebSocket(`${thread.replace('http', 'ws')}/stream/events`)
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('close', ({ code }) => reject(new Error(`closed with ${code}`)))
      socket.addEventListener('open', () => {
        socket.send(JSON.stringify({ id: 1, method: 'subscription.subscribe', params: { channels } }))
        void start().catch(reject)
      })
      socket.addEventListener('message', ({ data }) => {
        if (ended([String(data)])) resolve()
      })
    })
    return seen
  }
  const answer = await fetch(`${thread}/stream/events`, { ...json, body: JSON.stringify({ channels }) })
  await start()
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  while (true) {
    const { value, done } = (await reader?.read()) ?? { done: true }
    const frames = (rest + (value ?? '')).split('\n\n')
    rest = frames.pop() ?? ''
    if (done || ended(frames.flatMap((frame) => /^data: (.*)$/m.exec(frame)?.[1] ?? []))) return seen
  }
}

describe.skipIf(!HAS_BROWSER)(`Studio, of a deployment with http.cors${NO_BROWSER}`, () => {
  let weir: WeirProcess
  beforeAll(async () => {
    weir = await startWeir({ GRAPHS: 'test/fixtures/protocol-v2/langgraph.json', DEPLOYMENT_NAME: NAME })
  })
  const used = useInterface({ current: () => weir })
  beforeAll(() => signIn(used.current().page, weir))
  afterAll(async () => {
    expect(await weir.stop()).toBe(0)
  })

  it.each(['events', 'socket'])(
    'V-38: its page starts and follows a run over protocol v2, by %s, with the session of its browser',
    async (transport) => {
      const { page, open } = used.current()
      const thread_id = crypto.randomUUID()
      await open(`${MOUNT}/studio?assistant=chat`)
      await page.getByRole('region', { name: 'Graph' }).waitFor()
      const seen = await page.evaluate(runInPage, { base: weir.url + MOUNT, thread_id, transport })
      expect(seen).toEqual(['running', 'completed'])
      await open(`${MOUNT}/studio/${thread_id}?mode=chat`)
      await page.getByText('Hello from the model.').first().waitFor()
    },
  )

  it('V-38: the session opens sockets for its own page only, also where http.cors allows other pages', async () => {
    const cookies = await used.current().page.context().cookies()
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
    const url = `${weir.url.replace('http', 'ws')}${MOUNT}/threads/${crypto.randomUUID()}/stream/events`
    const open = (origin: string): WebSocket => new WebSocket(url, { headers: { cookie, origin } })
    const own = open(weir.url)
    await once(own, 'open')
    own.send(JSON.stringify({ id: 1, method: 'subscription.subscribe', params: { channels: ['lifecycle'] } }))
    const [answer] = (await once(own, 'message')) as [Buffer]
    expect(JSON.parse(String(answer))).toMatchObject({ type: 'success' })
    own.terminate()
    const [code] = (await once(open('http://127.0.0.1:3000'), 'close')) as [number]
    expect(code).toBe(4403)
  })
})
