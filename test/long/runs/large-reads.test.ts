import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { withoutLinux } from '../../support/linux.ts'
import {
  createOtherClients,
  newKey,
  type OtherClients,
  type Seen,
} from '../../support/faults/other-clients.ts'
import { median } from '../../support/servers/load.ts'
import { jsonBody, KEY, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Many runs, and values of many megabytes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

// One client reads as much as it can while ten others work a little. The others must not become much slower.

const GRAPHS = fileURLToPath(new URL('../../fixtures/graphs/langgraph.json', import.meta.url))
const BASE = '/deployments/fixtures'
/** Length of the windows without an attack. */
const ALONE_MS = 10_000
/** An attack is repeated, each time in a window of its own. */
const ROUNDS = 3
/** Maximum factor between the durations of the others' requests with and without the attack. */
const TIMES = 3
/** Number of clients that open a stream and read nothing. The server disconnects them after a minute. */
const READERS = 3000
const CUT_MS = 60_000
const MAX_GROWTH_MB = 700

let weir: WeirProcess
let dataDir: string
let others: OtherClients
/** A read-only key. */
let reader: string

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'weir-hold-'))
  weir = await startWeir(dataDir, { GRAPHS, DEPLOYMENT_NAME: 'fixtures', DEPLOYMENT_PORT: '0' })
  const reached = { url: weir.url, key: KEY, deployment: BASE }
  others = await createOtherClients(reached)
  const [first] = await weir.json<{ id: string }[]>('/workspaces')
  reader = await newKey(reached, first?.id ?? '', 'viewer')
}, 120_000)
afterAll(async () => {
  expect(await weir.stop()).toBe(0)
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

function memoryMb(): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${weir.pid}/status`, 'utf8'))?.[1]) / 1024
}

/**
 * Runs an attack, several times, while ten other clients with keys and workspaces of their own work, and compares the
 * durations of their requests. Other work on the machine slows down one window, but the attack slows down all of them.
 * So the median of the windows with an attack is compared with the slower one of the two windows without it.
 */
async function attack(name: string, work: () => Promise<unknown>): Promise<void> {
  await others.during(delay(ALONE_MS / 5))
  const before = await others.during(delay(ALONE_MS))
  const idle = memoryMb()
  let peak = idle
  const watch = setInterval(() => (peak = Math.max(peak, memoryMb())), 50)
  onTestFinished(() => clearInterval(watch))
  const attacked: Seen[] = []
  for (let round = 0; round < ROUNDS; round++) attacked.push(await others.during(work()))
  clearInterval(watch)
  const after = await others.during(delay(ALONE_MS))
  const shown = [before, ...attacked, after].map(({ p99_ms }) => p99_ms.toFixed(0)).join(', ')
  const figures = `${name}: p99 before it, beside it and after it: ${shown} ms, ${(peak - idle).toFixed(0)} MB more`
  console.log(figures)
  expect(attacked.flatMap(({ refused }) => refused)).toEqual([])
  const beside = median(attacked.map(({ p99_ms }) => p99_ms))
  expect(beside, figures).toBeLessThan(TIMES * Math.max(before.p99_ms, after.p99_ms))
  expect(peak - idle, figures).toBeLessThan(MAX_GROWTH_MB)
}

async function ask(
  path: string,
  body: unknown,
): Promise<{ status: number; bytes: number; next: string | null }> {
  const headers = { 'x-api-key': reader, 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await fetch(weir.url + BASE + path, init)
  const { byteLength } = await response.arrayBuffer()
  return { status: response.status, bytes: byteLength, next: response.headers.get('x-pagination-next') }
}

async function stateOf(content: string): Promise<void> {
  const metadata = { graph_id: 'tokens' }
  const { thread_id } = await weir.json<{ thread_id: string }>(
    `${BASE}/threads`,
    jsonBody('POST', { metadata }),
  )
  const values = { messages: [{ role: 'user', content }] }
  await weir.json(`${BASE}/threads/${thread_id}/state`, jsonBody('POST', { values }))
}

async function putItem(namespace: string, key: string, value: object): Promise<void> {
  const response = await weir.fetch(
    `${BASE}/store/items`,
    jsonBody('PUT', { namespace: [namespace], key, value }),
  )
  expect(response.status).toBe(204)
}

const onlyLinux = withoutLinux()

describe.skipIf(onlyLinux !== '')(`one client that reads as much as it can${onlyLinux}`, () => {
  it('gets pages of 60 items of 19.8 MB and of as large threads, one after the other', async () => {
    const text = 'x'.repeat(19_800_000)
    for (let n = 0; n < 60; n++) await putItem('big', `k${n}`, { text })
    for (let n = 0; n < 40; n++) await stateOf(text.slice(0, 15_000_000))
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

  it('runs five searches at once that match none of 1,500 items of 200 kB', async () => {
    const text = 'y'.repeat(200_000)
    for (let n = 0; n < 1500; n++) await putItem('scan', `k${n}`, { text, n })
    await attack('scans', async () => {
      const search = { namespace_prefix: ['scan'], filter: { n: -1 } }
      const found = await Promise.all(Array.from({ length: 5 }, () => ask('/store/items/search', search)))
      expect(found.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    })
  })

  it(`opens ${READERS} streams of large states and never reads them`, async () => {
    const { thread_id } = await weir.json<{ thread_id: string }>(`${BASE}/threads`, jsonBody('POST', {}))
    const run = {
      assistant_id: 'tokens',
      input: { messages: [{ role: 'user', content: 'z'.repeat(1_000_000) }], steps: 20, tokens: 1 },
      stream_mode: 'values',
      config: { recursion_limit: 100 },
    }
    await (await weir.fetch(`${BASE}/threads/${thread_id}/runs/wait`, jsonBody('POST', run))).arrayBuffer()
    const path = `${BASE}/threads/${thread_id}/stream`
    let lastAt = 0
    await attack('stalled streams', async () => {
      for (let n = 0; n < READERS / ROUNDS; n += 50) {
        await Promise.all(Array.from({ length: 50 }, () => openStalled(path)))
        lastAt = performance.now()
      }
      await delay(ALONE_MS / ROUNDS)
    })
    await eventually(async () => expect(await openStreams()).toBe(0), 2 * CUT_MS)
    // The last reader was disconnected, too. The limit is half as long again, for a busy machine.
    expect(performance.now() - lastAt).toBeLessThan(1.5 * CUT_MS)
  })
})

/** Opens the stream, and reads nothing from it. */
async function openStalled(path: string): Promise<void> {
  const { hostname, port } = new URL(weir.url)
  const socket = connect(Number(port), hostname).pause()
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${reader}\r\nlast-event-id: -\r\n\r\n`)
}

/** The number of open streams, from the server's own metric. */
async function openStreams(): Promise<number> {
  const text = await (await weir.fetch('/metrics')).text()
  return Number(/^weir_event_readers (\d+)/m.exec(text)?.[1] ?? Number.NaN)
}
