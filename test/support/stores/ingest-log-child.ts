import { writeSync } from 'node:fs'
import { createLogger } from '../../../src/base/log.ts'
import { type IngestLog, openIngestLog } from '../../../src/ingest/log/ingest-log.ts'

/**
 * The process that test/fault/kill/ingest-log.test.ts kills. Eight appenders write numbered records, and print `ack N`
 * as soon as record N is durable. One reader prints `got N` for each record, then commits. Arguments: directory, first
 * number.
 */
const [dir = '', first = '0'] = process.argv.slice(2)
const logger = createLogger({ level: 'silent' })
const log = await openIngestLog({ dir, maxBytes: 2 ** 30, segmentBytes: 256 * 1024, logger })
let next = Number(first)

/**
 * Writes directly to the pipe, so that a kill cannot lose printed lines. If the pipe is full, the write is repeated.
 */
function say(lines: string): void {
  for (let rest = Buffer.from(lines); rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(1, rest))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    }
  }
}

async function appendForEver(): Promise<never> {
  for (;;) {
    const number = next++
    const payload = Buffer.alloc(4 + (number % 7) * 4_000, number)
    payload.writeUInt32LE(number)
    await log.append({ kind: 1, count: 1, received_at: Date.now(), payload })
    say(`ack ${number}\n`)
  }
}

async function consumeForEver(from: IngestLog): Promise<never> {
  const never = new AbortController().signal
  for (;;) {
    await from.waitForData(from.committed, never)
    const frames = await from.read(from.committed, 64 * 1024)
    say(frames.map(({ payload }) => `got ${Buffer.from(payload).readUInt32LE()}\n`).join(''))
    const last = frames.at(-1)
    if (last !== undefined) await from.commit(last.end)
  }
}

await Promise.all([consumeForEver(log), ...Array.from({ length: 8 }, appendForEver)])
