import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { WeirProcess } from './server.ts'

/** What ten clients have seen in a while: each sends a run, then asks for the last ones. */
export interface Seen {
  requests: number
  /** Answers that were no 2xx. */
  refused: string[]
  /** The time that 99 of 100 answers did not take longer than, in milliseconds. */
  p99_ms: number
}

const CLIENTS = 10
const PAUSE_MS = 20

/** Runs ten clients that ingest and query for `ms` milliseconds. */
export async function steadyClients(weir: Pick<WeirProcess, 'request'>, ms: number): Promise<Seen> {
  const times: number[] = []
  const refused: string[] = []
  const until = performance.now() + ms
  const ask = async (path: string, body: unknown): Promise<void> => {
    const started = performance.now()
    const headers = { 'content-type': 'application/json' }
    const answer = await weir.request(path, { method: 'POST', headers, body: JSON.stringify(body) })
    const text = await answer.text()
    times.push(performance.now() - started)
    if (!answer.ok) refused.push(`${path}: ${answer.status} ${text}`)
  }
  const client = async (): Promise<void> => {
    while (performance.now() < until) {
      await ask('/runs', { id: randomUUID(), name: 'steady', run_type: 'chain', inputs: { a: 1 } })
      await ask('/runs/query', { limit: 5 })
      await delay(PAUSE_MS)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  times.sort((a, b) => a - b)
  return { requests: times.length, refused, p99_ms: times[Math.floor(times.length * 0.99)] ?? 0 }
}
