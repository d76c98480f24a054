import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import os from 'node:os'
import { fileURLToPath } from 'node:url'
import { Client } from '@langchain/langgraph-sdk'
import { WebSocket } from 'ws'
import { readResidentBytes } from '../src/graph/pool/watch/memory-watch.ts'
import { readFrames } from '../test/support/runs/streams/sse-frames.ts'
import { KEY, startWeir } from '../test/support/servers/weir-process.ts'
import { temporaryDir } from '../test/support/stores/clickhouse/embedded-clickhouse.ts'

// Compares tokens over protocol v2 with tokens over v1: events a second, CPU and bytes for each token. Also measures the
// memory of idle sockets:
//   node scripts/launch.mjs bench/protocols.bench.ts [passes]
const STREAMS = 8
const TOKENS = 1_000
const PASSES = Number(process.argv[2] ?? 5)
const SOCKETS = 1_000
const WARM_UP = 2

const GRAPHS = fileURLToPath(new URL('../test/fixtures/graphs/langgraph.json', import.meta.url))
const HEADERS = { 'x-api-key': KEY, 'content-type': 'application/json' }
const INPUT = { messages: [{ role: 'user', content: 'hi' }], tokens: TOKENS }

const folder = await temporaryDir()
const weir = await startWeir(folder.dir, {
  GRAPHS,
  DEPLOYMENT_NAME: 'bench',
  RUN_TRACING: 'off',
  STREAMS_MAX: '5000',
  STREAMS_MAX_PER_KEY: '5000',
})
const url = `${weir.url}/deployments/bench`
const client = new Client({ apiUrl: url, apiKey: KEY })

/** Milliseconds of CPU time of the server and each of its graph hosts, by pid. */
async function cpuMs(): Promise<Map<number, number>> {
  const used = new Map<number, number>()
  for (const pid of [weir.pid, ...(await hostsOf(weir.pid))]) {
    // A host may have ended before it is read.
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
    if (stat === undefined) continue
    const fields = stat.replace(/^.*\) /, '').split(' ')
    // User and system time, in ticks of 10 ms.
    used.set(pid, (Number(fields[11]) + Number(fields[12])) * 10)
  }
  return used
}

async function hostsOf(parent: number): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')
    if (Number(stat.replace(/^.*\) /, '').split(' ')[1]) === parent && command.includes('graph-host'))
      found.push(Number(name))
  }
  return found
}

interface Read {
  tokens: number
  bytes: number
}

async function overV1(): Promise<Read> {
  const { thread_id } = await client.threads.create()
  const body = JSON.stringify({ assistant_id: 'tokens', input: INPUT, stream_mode: ['messages-tuple'] })
  const answer = await fetch(`${url}/threads/${thread_id}/runs/stream`, {
    method: 'POST',
    headers: HEADERS,
    body,
  })
  const read = { tokens: 0, bytes: 0 }
  for await (const { event, data } of readFrames(answer)) {
    read.bytes += JSON.stringify(data).length
    if (event === 'messages') read.tokens++
  }
  return read
}

async function overV2(): Promise<Read> {
  const thread = `${url}/threads/${crypto.randomUUID()}`
  const asked = { method: 'POST', headers: HEADERS }
  const channels = ['messages', 'lifecycle']
  const answer = await fetch(`${thread}/stream/events`, { ...asked, body: JSON.stringify({ channels }) })
  const params = { assistant_id: 'tokens', input: INPUT }
  await fetch(`${thread}/commands`, {
    ...asked,
    body: JSON.stringify({ id: 1, method: 'run.start', params }),
  })
  const read = { tokens: 0, bytes: 0 }
  for await (const { event, data } of readFrames(answer)) {
    read.bytes += JSON.stringify(data).length
    const { namespace, data: told } = (data as { params: { namespace: string[]; data: { event: string } } })
      .params
    if (told.event === 'content-block-delta') read.tokens++
    if (event === 'lifecycle' && namespace.length === 0 && told.event !== 'running') break
  }
  return read
}

/** Figures of one pass: `rate` in events a second, CPU times in microseconds a token, `bytes` a token. */
interface Pass {
  rate: number
  server_us: number
  hosts_us: number
  cpu_us: number
  bytes: number
}

/**
 * Measures one pass. A pass in which a host started or ended is repeated up to `tries` times, because the CPU time of a
 * start would be counted.
 */
async function pass(one: () => Promise<Read>, tries = 3): Promise<Pass> {
  const [before, begun] = [await cpuMs(), performance.now()]
  const read = await Promise.all(Array.from({ length: STREAMS }, one))
  const ms = performance.now() - begun
  const after = await cpuMs()
  if (tries > 0 && [...after.keys()].join() !== [...before.keys()].join()) return pass(one, tries - 1)
  const tokens = read.reduce((sum, some) => sum + some.tokens, 0)
  const bytes = read.reduce((sum, some) => sum + some.bytes, 0)
  const used = [...after].map(([pid, now]) => [pid, now - (before.get(pid) ?? 0)] as const)
  const usOf = (isCounted: (pid: number) => boolean): number =>
    (used.reduce((sum, [pid, some]) => sum + (isCounted(pid) ? some : 0), 0) * 1000) / tokens
  return {
    rate: (tokens * 1000) / ms,
    server_us: usOf((pid) => pid === weir.pid),
    hosts_us: usOf((pid) => pid !== weir.pid),
    cpu_us: usOf(() => true),
    bytes: bytes / tokens,
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}

async function tokens(): Promise<void> {
  const passes: { v1: Pass; v2: Pass }[] = []
  for (let n = 0; n < WARM_UP + PASSES; n++) passes.push({ v1: await pass(overV1), v2: await pass(overV2) })
  // The first passes are for warming up.
  const measured = passes.slice(WARM_UP)
  for (const name of ['v1', 'v2'] as const) {
    const of = (key: keyof Pass) => median(measured.map((one) => one[name][key])).toFixed(0)
    console.log(
      `${name}: ${STREAMS} × ${TOKENS} tokens, ${of('rate')}/s, ${of('cpu_us')} µs CPU (${of('server_us')} server, ${of('hosts_us')} hosts) and ${of('bytes')} bytes a token`,
    )
  }
  const ratios = measured.map(({ v1, v2 }) => v2.rate / v1.rate)
  const costs = measured.map(({ v1, v2 }) => v2.cpu_us / v1.cpu_us)
  console.log(
    `v2 to v1: ${median(ratios).toFixed(2)} of the events a second (0.8), ${median(costs).toFixed(2)} of the CPU (1.3); load ${os.loadavg()[0]?.toFixed(1)}`,
  )
}

/** A server whose sockets do nothing. */
function startBare(): ChildProcess {
  const code = `import { WebSocketServer } from 'ws'
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
    server.on('listening', () => console.log(server.address().port))`
  return spawn(process.execPath, ['--input-type=module', '-e', code], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** Returns the bytes of memory that one WebSocket takes in process `pid`. */
async function bytesOfSockets(pid: number, address: () => string, subscribe: boolean): Promise<number> {
  const open = async (count: number): Promise<WebSocket[]> => {
    const sockets: WebSocket[] = []
    for (let n = 0; n < count; n++) {
      const socket = new WebSocket(address(), { headers: { 'x-api-key': KEY }, perMessageDeflate: false })
      await once(socket, 'open')
      if (subscribe) {
        const params = { channels: ['lifecycle'] }
        socket.send(JSON.stringify({ id: 1, method: 'subscription.subscribe', params }))
        await once(socket, 'message')
      }
      sockets.push(socket)
    }
    return sockets
  }
  const close = async (sockets: readonly WebSocket[]): Promise<void> => {
    await Promise.all(
      sockets.map((socket) => {
        const closed = once(socket, 'close')
        socket.terminate()
        return closed
      }),
    )
  }
  // The first sockets make the heap grow; later sockets reuse that memory.
  await close(await open(SOCKETS))
  const kept = await open(SOCKETS)
  const before = readResidentBytes(pid) ?? 0
  const more = await open(SOCKETS)
  const after = readResidentBytes(pid) ?? 0
  await close([...kept, ...more])
  return (after - before) / SOCKETS
}

async function sockets(): Promise<void> {
  const bare = startBare()
  const [port] = (await once(bare.stdout ?? bare, 'data')) as [Buffer]
  const base = await bytesOfSockets(bare.pid ?? 0, () => `ws://127.0.0.1:${String(port).trim()}`, false)
  bare.kill()
  const address = () => `${url.replace('http', 'ws')}/threads/${crypto.randomUUID()}/stream/events`
  const own = await bytesOfSockets(weir.pid, address, true)
  const kB = (bytes: number) => (bytes / 1000).toFixed(1)
  console.log(
    `idle sockets: ${kB(own)} kB with a subscription, ${kB(base)} kB bare, ${kB(own - base)} kB above (30)`,
  )
}

await tokens()
await sockets()
await weir.stop()
await folder.remove()
