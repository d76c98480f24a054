import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { BOUNDARY, createTraceBodies } from './trace-bodies.ts'

// An open loop: requests begin at a steady rate, whether or not earlier ones have been answered, and nobody waits for
// Retry-After:
//   node bench/load/send-steadily.ts URL KEY REQUESTS_A_SECOND SECONDS TRACES_A_REQUEST BEGIN
// BEGIN is a time in epoch milliseconds, so that several senders begin together, after their own start.
// Prints one JSON line: the milliseconds of each request, and the number of each status.
const [url = '', key = '', rate = '10', seconds = '10', perRequest = '1', begin = '0'] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: 256, noDelay: true })
const nextBodies = createTraceBodies(Number(perRequest))
const ms: number[] = []
const statuses: Record<string, number> = {}

function send(body: Buffer): Promise<void> {
  const started = performance.now()
  const headers = {
    'x-api-key': key,
    'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    'content-length': body.length,
  }
  return new Promise((resolve) => {
    const end = (status: string): void => {
      ms.push(Number((performance.now() - started).toFixed(1)))
      statuses[status] = (statuses[status] ?? 0) + 1
      resolve()
    }
    const sent = request(new URL('/runs/multipart', url), { method: 'POST', agent, headers }, (answer) => {
      answer.resume().on('end', () => end(String(answer.statusCode)))
    })
    sent.on('error', (error) => end(error.message)).end(body)
  })
}

for (let n = 0; n < 20; n++) nextBodies()
await delay(Math.max(0, Number(begin) - Date.now()))
const total = Number(rate) * Number(seconds)
const started = performance.now()
const sent: Promise<void>[] = []
for (let n = 0; n < total; n++) {
  const due = started + (n * 1000) / Number(rate)
  const wait = due - performance.now()
  if (wait > 1) await delay(wait)
  sent.push(send(nextBodies().creates))
}
await Promise.all(sent)
console.log(JSON.stringify({ ms, statuses }))
agent.destroy()
