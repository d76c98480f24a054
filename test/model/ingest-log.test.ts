import { appendFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLogger } from '../../src/base/log.ts'
import { type IngestLog, type LogFrame, openIngestLog } from '../../src/ingest/log/ingest-log.ts'
import { tries } from '../support/properties.ts'

const logger = createLogger({ level: 'silent' })
const OVERHEAD = 48

interface Entry {
  kind: number
  count: number
  received_at: number
  payload: Buffer
}

type Step =
  | { do: 'append'; sizes: number[] }
  | { do: 'read'; maxBytes: number; commit: number }
  | { do: 'reopen'; torn: Uint8Array }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('append' as const), sizes: fc.array(fc.nat(300), { maxLength: 6 }) }),
  fc.record({ do: fc.constant('read' as const), maxBytes: fc.nat(600), commit: fc.nat(6) }),
  fc.record({ do: fc.constant('reopen' as const), torn: fc.uint8Array({ maxLength: 80 }) }),
)

/** The log and a plain list of its expected content. */
class Subject {
  readonly dir: string
  readonly options: { segmentBytes: number; maxBytes: number }
  log: IngestLog
  waiting: Entry[] = []
  written = 0

  constructor(dir: string, options: { segmentBytes: number; maxBytes: number }, log: IngestLog) {
    this.dir = dir
    this.options = options
    this.log = log
  }

  async append(sizes: readonly number[]): Promise<void> {
    const entries = sizes.map((size) => {
      const id = this.written++
      return { kind: id % 3, count: id % 5, received_at: id, payload: Buffer.alloc(size, id) }
    })
    const results = await Promise.allSettled(entries.map((entry) => this.log.append(entry)))
    let bytes = this.bytes()
    for (const [index, entry] of entries.entries()) {
      const size = OVERHEAD + entry.payload.length
      const fits = bytes + size <= this.options.maxBytes
      expect(results[index]?.status).toBe(fits ? 'fulfilled' : 'rejected')
      if (!fits) continue
      bytes += size
      this.waiting.push(entry)
    }
  }

  async readAndCommit(maxBytes: number, commit: number): Promise<void> {
    const frames = await this.log.read(this.log.committed, maxBytes)
    expect(frames.map(bare)).toEqual(this.waiting.slice(0, frames.length))
    expect(frames.length > 0).toBe(this.waiting.length > 0)
    if (frames.length > 1)
      expect(sum(frames.map(({ payload }) => payload.length))).toBeLessThanOrEqual(maxBytes)
    const upTo = frames[Math.min(commit, frames.length) - 1]
    if (upTo === undefined) return
    await this.log.commit(upTo.end)
    this.waiting = this.waiting.slice(Math.min(commit, frames.length))
  }

  async reopen(torn: Uint8Array): Promise<void> {
    await this.log.close()
    const last = (await readdir(this.dir))
      .filter((name) => name.endsWith('.log'))
      .sort()
      .at(-1)
    if (last !== undefined) await appendFile(join(this.dir, last), torn)
    this.log = await openIngestLog({ dir: this.dir, ...this.options, fsync: false, logger })
    const dropped = this.log.stats().recovered?.bytes_dropped ?? 0
    expect(dropped).toBe(last === undefined ? 0 : torn.length)
  }

  async check(): Promise<void> {
    expect(this.log.stats()).toMatchObject({
      bytes: this.bytes(),
      frames_waiting: this.waiting.length,
      items_waiting: sum(this.waiting.map(({ count }) => count)),
      oldest_waiting_at: this.waiting[0]?.received_at ?? null,
      damaged_bytes: 0,
    })
    const all: LogFrame[] = []
    for (let position = this.log.committed; ; ) {
      const frames = await this.log.read(position, 1_000)
      all.push(...frames.map((frame) => ({ ...frame, payload: Buffer.from(frame.payload) }))) // copied, since the next read overwrites it
      const last = frames.at(-1)
      if (last === undefined) break
      position = last.end
    }
    expect(all.map(bare)).toEqual(this.waiting)
  }

  bytes(): number {
    return sum(this.waiting.map(({ payload }) => OVERHEAD + payload.length))
  }
}

function bare({ kind, count, received_at, payload }: LogFrame): Entry {
  return { kind, count, received_at, payload: Buffer.from(payload) }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

describe('the ingest log', () => {
  it('behaves like a list, across commits, new segments, truncated ends and restarts', async () => {
    const sizes = fc.record({ segmentBytes: fc.integer({ min: 1, max: 900 }), maxBytes: fc.constant(2_000) })
    await fc.assert(
      fc.asyncProperty(sizes, fc.array(step, { maxLength: 20 }), async (options, steps) => {
        const dir = await mkdtemp(join(tmpdir(), 'weir-log-'))
        const log = await openIngestLog({ dir, ...options, fsync: false, logger })
        const subject = new Subject(dir, options, log)
        try {
          for (const next of steps) {
            if (next.do === 'append') await subject.append(next.sizes)
            else if (next.do === 'read') await subject.readAndCommit(next.maxBytes, next.commit)
            else await subject.reopen(next.torn)
            await subject.check()
          }
        } finally {
          await subject.log.close()
          await rm(dir, { recursive: true })
        }
      }),
      tries(100),
    )
  })
})
