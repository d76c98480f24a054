import { describe, expect, it } from 'vitest'
import { eventually } from '../../../test/support/eventually.ts'
import { textRecord, useLogBench } from '../../../test/support/stores/ingest-log.ts'
import { createLogger } from '../../base/log.ts'
import { createMetrics } from '../../base/metrics.ts'
import type { LogFrame } from '../log/ingest-log.ts'
import type { BatchInStore } from './store-batch.ts'
import { startStoreWriter } from './store-writer.ts'

const bench = useLogBench()
const logger = createLogger({ level: 'silent' })

/** The lines of the log of a writer that is stopped before its store was reachable. */
async function stoppedWith(records: number): Promise<unknown[]> {
  const log = await bench.open()
  for (let n = 0; n < records; n++) await log.append(textRecord(`record ${n}`))
  const lines: string[] = []
  const unreachable = (): Promise<never> => Promise.reject(new Error('not reachable'))
  const writer = startStoreWriter({
    log,
    storeBatch: () => ({ derive: unreachable, finish: unreachable }),
    ready: new Promise(() => undefined),
    logger: createLogger({ destination: { write: (line) => void lines.push(line) } }),
    metrics: createMetrics(),
  })
  await writer.stop(0)
  return lines.map((line): unknown => JSON.parse(line))
}

it('a stop says what stays in the ingest log, because the disk must then be kept', async () => {
  const message = expect.stringContaining('the next start with this DATA_DIR stores it')
  expect(await stoppedWith(3)).toMatchObject([{ level: 'warn', waiting: 6, msg: message }])
})

it('a stop says nothing when all is stored', async () => {
  expect(await stoppedWith(0)).toEqual([])
})

describe('batches', () => {
  const FULL = 9 << 20
  const fullText = (letter: string): string => letter.repeat(FULL)

  /** A writer whose batches do their steps when the test lets them; a batch is known by its first letter. */
  async function startWith(records: readonly string[]) {
    const log = await bench.open({ maxBytes: 64 << 20 })
    for (const record of records) await log.append(textRecord(record))
    const begun: string[] = []
    const ends = new Map<string, PromiseWithResolvers<void>>()
    const step = (name: string): Promise<void> => {
      begun.push(name)
      const end = Promise.withResolvers<void>()
      ends.set(name, end)
      return end.promise
    }
    const storeBatch = (frames: readonly LogFrame[]): BatchInStore => {
      const letter = (): string => Buffer.from(frames[0]!.payload.subarray(0, 1)).toString()
      return {
        derive: () => step(`derive ${letter()}`),
        finish: () => step(`finish ${letter()}`).then(() => frames.length),
      }
    }
    const ready = Promise.resolve()
    const writer = startStoreWriter({ log, storeBatch, ready, logger, metrics: createMetrics() })
    const reach = (steps: string[]): Promise<void> => eventually(async () => expect(begun).toEqual(steps))
    return { log, writer, reach, end: (name: string) => ends.get(name)! }
  }

  it('overlap while they are full: one is derived while the rows of the one before are written, in order', async () => {
    const { writer, log, reach, end } = await startWith(['a', 'b', 'c'].map(fullText))
    await reach(['derive a'])
    end('derive a').resolve()
    await reach(['derive a', 'finish a', 'derive b'])
    end('derive b').resolve()
    expect(log.stats().frames_waiting).toBe(3)
    end('finish a').resolve()
    await reach(['derive a', 'finish a', 'derive b', 'finish b', 'derive c'])
    expect(log.stats().frames_waiting).toBe(2)
    for (const name of ['derive c', 'finish b']) end(name).resolve()
    await reach(['derive a', 'finish a', 'derive b', 'finish b', 'derive c', 'finish c'])
    end('finish c').resolve()
    await writer.stop(5_000)
    expect(log.stats().frames_waiting).toBe(0)
  })

  it('are repeated from the step that failed, and the one behind waits with its rows', async () => {
    const { writer, log, reach, end } = await startWith(['a', 'b'].map(fullText))
    await reach(['derive a'])
    end('derive a').resolve()
    await reach(['derive a', 'finish a', 'derive b'])
    end('derive b').resolve()
    end('finish a').reject(new Error('not reachable'))
    await reach(['derive a', 'finish a', 'derive b', 'finish a'])
    expect(writer.progress().up).toBe(false)
    end('finish a').resolve()
    await reach(['derive a', 'finish a', 'derive b', 'finish a', 'finish b'])
    expect(writer.progress()).toMatchObject({ up: true, last_error: null })
    end('finish b').resolve()
    await writer.stop(5_000)
    expect(log.stats().frames_waiting).toBe(0)
  })

  it('that are small come one after the other, so that each has what waits', async () => {
    const { writer, log, reach, end } = await startWith(['a'])
    await reach(['derive a'])
    await log.append(textRecord('b'))
    end('derive a').resolve()
    await reach(['derive a', 'finish a'])
    await log.append(textRecord('c'))
    end('finish a').resolve()
    await reach(['derive a', 'finish a', 'derive b'])
    end('derive b').resolve()
    await reach(['derive a', 'finish a', 'derive b', 'finish b'])
    end('finish b').resolve()
    await writer.stop(5_000)
    expect(writer.progress().derived).toBe(3)
  })

  it('stay in the log when the writer stops between their steps', async () => {
    const { writer, log, reach, end } = await startWith(['a', 'b'].map(fullText))
    await reach(['derive a'])
    end('derive a').resolve()
    await reach(['derive a', 'finish a', 'derive b'])
    const stopped = writer.stop(0)
    for (const name of ['finish a', 'derive b']) end(name).reject(new Error('stopped'))
    await stopped
    expect(log.stats().frames_waiting).toBe(2)
  })
})
