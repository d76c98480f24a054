import { Agent, request } from 'node:http'
import { BOUNDARY, createTraceBodies } from './trace-bodies.ts'

// A closed loop of senders: node bench/load/send-load.ts URL KEY TRACES CONCURRENCY [PER_REQUEST]; prints one JSON line.
const [url = '', key = '', traces = '4000', concurrency = '8', perRequest = '4'] = process.argv.slice(2)
const units = Math.ceil(Number(traces) / Number(perRequest))
const agent = new Agent({ keepAlive: true, maxSockets: Number(concurrency), noDelay: true })
const nextBodies = createTraceBodies(Number(perRequest))
const latencies: number[] = []
const errors: Record<string, number> = {}
let bytes = 0

function send(body: Buffer): Promise<boolean> {
  bytes += body.length
  const started = performance.now()
  const headers = {
    'x-api-key': key,
    'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    'content-length': body.length,
  }
  return new Promise((resolve) => {
    const fail = (what: string): void => {
      errors[what] = (errors[what] ?? 0) + 1
      resolve(false)
    }
    const sent = request(new URL('/runs/multipart', url), { method: 'POST', agent, headers }, (answer) => {
      answer.resume().on('end', () => {
        latencies.push(performance.now() - started)
        if (answer.statusCode! >= 300) fail(String(answer.statusCode))
        else resolve(true)
      })
    })
    sent.on('error', (error) => fail(error.message)).end(body)
  })
}

/** Sends creates, and their updates once the creates are acknowledged, as the client does. */
async function run(count: number): Promise<number> {
  let next = 0
  let done = 0
  const sender = async (): Promise<void> => {
    while (next++ < count) {
      const { creates, updates } = nextBodies()
      if ((await send(creates)) && (await send(updates))) done += Number(perRequest)
    }
  }
  await Promise.all(Array.from({ length: Number(concurrency) }, sender))
  return done
}

await run(Math.ceil(200 / Number(perRequest)))
latencies.length = 0
bytes = 0
const started = performance.now()
const done = await run(units)
const seconds = (performance.now() - started) / 1000
latencies.sort((a, b) => a - b)
const at = (share: number): number =>
  Number((latencies[Math.min(latencies.length - 1, Math.floor(share * latencies.length))] ?? 0).toFixed(1))
console.log(
  JSON.stringify({
    traces_per_s: Math.round(done / seconds),
    mb_per_s: Number((bytes / 1e6 / seconds).toFixed(1)),
    ack_ms: { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) },
    errors,
  }),
)
agent.destroy()
