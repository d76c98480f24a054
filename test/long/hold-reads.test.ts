import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { jsonBody, KEY, startWeir, type WeirProcess } from '../support/weir-process.ts'

// One client that reads as much as it can, beside ten that do a little work: theirs must not take much longer.

const GRAPHS = fileURLToPath(new URL('../fixtures/graphs/langgraph.json', import.meta.url))
const BASE = '/deployments/fixtures'
const CLIENTS = 10
const ALONE_MS = 10_000
/** What the others may wait more than alone: three times, but no less than a busy machine's noise. */
const TIMES = 3
const NOISE_MS = 100
const MAX_GROWTH_MB = 700

let weir: WeirProcess
let dataDir: string

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'weir-hold-'))
  weir = await startWeir(dataDir, { GRAPHS, DEPLOYMENT_NAME: 'fixtures', DEPLOYMENT_PORT: '0' })
})
afterAll(async () => {
  expect(await weir.stop()).toBe(0)
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

function memoryMb(): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${weir.pid}/status`, 'utf8'))?.[1]) / 1024
}

/** What an honest client does again and again: liveness, a trace, a thread and its list. */
async function honestRound(): Promise<void> {
  const id = crypto.randomUUID()
  const time = new Date().toISOString()
  const run = { id, name: 'n', run_type: 'chain', start_time: time, inputs: { q: 1 } }
  for (const [path, init] of [
    ['/ok', {}],
    ['/runs', jsonBody('POST', run)],
    [`${BASE}/threads`, jsonBody('POST', { metadata: { of: 'honest' } })],
    [`${BASE}/threads/search`, jsonBody('POST', { limit: 3 })],
  ] as const) {
    const response = await weir.fetch(path, init)
    await response.arrayBuffer()
    expect(response.status, path).toBeLessThan(300)
  }
}

/** Slowest percent of the rounds of ten clients while `until` is under way. */
async function p99While(until: Promise<unknown>): Promise<number> {
  const took: number[] = []
  let on = true
  void until.finally(() => (on = false)).catch(() => undefined)
  const client = async (): Promise<void> => {
    while (on) {
      const started = performance.now()
      await honestRound()
      took.push(performance.now() - started)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  await until
  return took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? 0
}

/** Runs an attack beside honest clients, and compares. */
async function attack(name: string, work: () => Promise<unknown>): Promise<void> {
  await p99While(new Promise((done) => setTimeout(done, ALONE_MS / 5)))
  const alone = await p99While(new Promise((done) => setTimeout(done, ALONE_MS)))
  const before = memoryMb()
  let peak = before
  const watch = setInterval(() => (peak = Math.max(peak, memoryMb())), 50)
  onTestFinished(() => clearInterval(watch))
  const beside = await p99While(work())
  const figures = `${name}: p99 alone ${alone.toFixed(0)} ms, beside it ${beside.toFixed(0)} ms, ${(peak - before).toFixed(0)} MB more`
  console.log(figures)
  expect(beside, figures).toBeLessThan(Math.max(TIMES * alone, alone + NOISE_MS))
  expect(peak - before, figures).toBeLessThan(MAX_GROWTH_MB)
}

async function ask(
  path: string,
  body: unknown,
): Promise<{ status: number; bytes: number; next: string | null }> {
  const response = await weir.fetch(`${BASE}${path}`, jsonBody('POST', body))
  const { byteLength } = await response.arrayBuffer()
  return { status: response.status, bytes: byteLength, next: response.headers.get('x-pagination-next') }
}

async function putItem(namespace: string, key: string, value: object): Promise<void> {
  const response = await weir.fetch(
    `${BASE}/store/items`,
    jsonBody('PUT', { namespace: [namespace], key, value }),
  )
  expect(response.status).toBe(204)
}

describe.runIf(process.platform === 'linux')('one client that reads as much as it can', () => {
  it('gets pages of 60 items of 19.8 MB and of as large threads, one after the other', async () => {
    const text = 'x'.repeat(19_800_000)
    for (let n = 0; n < 60; n++) await putItem('big', `k${n}`, { text })
    for (let n = 0; n < 20; n++) await ask('/threads', { metadata: { big: text.slice(0, 15_000_000) } })
    await attack('large pages', async () => {
      for (let offset = 0, next: string | null = ''; next !== null && offset < 12; offset++) {
        const page = await ask('/store/items/search', { namespace_prefix: ['big'], limit: 1000, offset })
        expect(page).toMatchObject({ status: 200 })
        expect(page.bytes).toBeLessThan(34_000_000)
        next = page.next
      }
      const threads = await ask('/threads/search', { limit: 1000 })
      expect(threads.status).toBe(200)
      expect(threads.bytes).toBeLessThan(34_000_000)
    })
  })

  it('searches 1,500 items of 200 kB for what is not there, five times at once', async () => {
    const text = 'y'.repeat(200_000)
    for (let n = 0; n < 1500; n++) await putItem('scan', `k${n}`, { text, n })
    await attack('scans', async () => {
      const search = { namespace_prefix: ['scan'], filter: { n: -1 } }
      const found = await Promise.all(Array.from({ length: 5 }, () => ask('/store/items/search', search)))
      expect(found.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    })
  })

  it('opens 100 streams of large states and never reads them', async () => {
    const { thread_id } = await weir.json<{ thread_id: string }>(`${BASE}/threads`, jsonBody('POST', {}))
    const run = {
      assistant_id: 'tokens',
      input: { messages: [{ role: 'user', content: 'z'.repeat(1_000_000) }], steps: 20, tokens: 1 },
      stream_mode: 'values',
      config: { recursion_limit: 100 },
    }
    await (await weir.fetch(`${BASE}/threads/${thread_id}/runs/wait`, jsonBody('POST', run))).arrayBuffer()
    const stalled: IncomingMessage[] = []
    await attack('stalled streams', async () => {
      for (let n = 0; n < 100; n++) {
        const headers = { 'x-api-key': KEY, 'last-event-id': '-' }
        const asked = get(`${weir.url}${BASE}/threads/${thread_id}/stream`, { agent: false, headers })
        const [answer] = (await once(asked, 'response')) as [IncomingMessage]
        answer.on('error', () => undefined)
        stalled.push(answer.pause())
      }
      await new Promise((done) => setTimeout(done, ALONE_MS))
    })
    // A paused reader hears of the end when it reads on.
    await eventually(async () => expect(await openStreams()).toBe(0), 150_000)
    for (const answer of stalled) answer.destroy()
  })
})

/** As the server counts them. */
async function openStreams(): Promise<number> {
  const text = await (await weir.fetch('/metrics')).text()
  return Number(/^weir_event_readers (\d+)/m.exec(text)?.[1] ?? Number.NaN)
}
