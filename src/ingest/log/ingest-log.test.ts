import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, copyFile, cp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  faultyFiles,
  flipByte,
  readTexts,
  textRecord,
  useLogBench,
} from '../../../test/support/stores/ingest-log.ts'
import { createLogger } from '../../base/log.ts'
import { openIngestLog } from './ingest-log.ts'
import { segmentPath } from './files.ts'
import { newFolder } from '../../../test/support/folder.ts'

const MEGABYTE = 1024 * 1024
const bench = useLogBench()

describe('appending and reading', () => {
  it('returns records complete, in order, with their positions', async () => {
    const log = await bench.open({ fsync: true })
    const start = log.committed
    const end = await log.append({ kind: 7, count: 3, received_at: 1_234.5, payload: Buffer.from('first') })
    const later = await Promise.all([log.append(textRecord('second')), log.append(textRecord(''))])
    const frames = await log.read(start, MEGABYTE)
    expect(frames[0]).toMatchObject({ kind: 7, count: 3, received_at: 1_234.5, end })
    expect(frames.map(({ payload }) => payload.toString())).toEqual(['first', 'second', ''])
    expect(frames.map((frame) => frame.end)).toEqual([end, ...later])
    expect(frames[1]?.start).toEqual(end)
    expect(await log.read(frames[2]?.end ?? start, MEGABYTE)).toEqual([])
  })

  it('reads up to maxBytes of payload, at least one frame', async () => {
    const log = await bench.open()
    await Promise.all(['aaaa', 'bbbb', 'cccc', 'dddd'].map((text) => log.append(textRecord(text))))
    expect(await log.read(log.committed, 0)).toHaveLength(1)
    expect(await log.read(log.committed, 3)).toHaveLength(1)
    expect((await log.read(log.committed, 200)).length).toBeGreaterThan(1)
    expect(await readTexts(log, 5)).toEqual(['aaaa', 'bbbb', 'cccc', 'dddd'])
  })

  it('starts a new segment when one is full, and gives a larger frame one of its own', async () => {
    const log = await bench.open({ segmentBytes: 200 })
    const texts = ['a'.repeat(50), 'b'.repeat(500), 'c'.repeat(50), 'd'.repeat(20)]
    for (const text of texts) await log.append(textRecord(text))
    expect(await bench.segmentFiles()).toHaveLength(3)
    expect(await readTexts(log)).toEqual(texts)
    expect(log.stats()).toMatchObject({ segments: 3, frames_waiting: 4, items_waiting: 8 })
  })

  it('acknowledges and returns nothing before fdatasync has returned', async () => {
    const reached = Promise.withResolvers<void>()
    const disk = Promise.withResolvers<void>()
    const onSync = async (): Promise<void> => {
      reached.resolve()
      await disk.promise
    }
    const log = await bench.open({ fsync: true, openFile: faultyFiles({ onSync }) })
    let acknowledged = false
    const appended = log.append(textRecord('a')).then(() => {
      acknowledged = true
    })
    await reached.promise
    expect(await readTexts(log)).toEqual([])
    expect([acknowledged, log.stats().frames_waiting]).toEqual([false, 0])
    disk.resolve()
    await appended
    expect(await readTexts(log)).toEqual(['a'])
  })

  it('collects the appends that arrive during a write into one group', async () => {
    let syncs = 0
    const onSync = (): void => {
      syncs += 1
    }
    const openFile = faultyFiles({ onSync })
    const log = await bench.open({ fsync: true, openFile })
    await Promise.all(Array.from({ length: 100 }, (_, index) => log.append(textRecord(String(index)))))
    expect(syncs).toBe(1)
    expect(await readTexts(log)).toEqual(Array.from({ length: 100 }, (_, index) => String(index)))
  })

  it('refuses invalid numbers, without effect on other appends', async () => {
    const log = await bench.open()
    const good = log.append(textRecord('good'))
    const bad = { ...textRecord('bad'), count: -1 }
    await expect(log.append(bad)).rejects.toMatchObject({ code: 'internal' })
    await good
    expect(await readTexts(log)).toEqual(['good'])
  })
})

describe('waiting for data', () => {
  it('ends with an append, an abort or the close', async () => {
    const log = await bench.open()
    const never = new AbortController()
    const waiting = log.waitForData(log.committed, never.signal)
    const end = await log.append(textRecord('a'))
    await waiting
    await log.waitForData(log.committed, never.signal)
    const abort = new AbortController()
    const aborted = log.waitForData(end, abort.signal)
    abort.abort()
    await aborted
    const closed = log.waitForData(end, never.signal)
    await log.close()
    await closed
  })
})

describe('committing', () => {
  it('is stored, removes confirmed segments, and never moves backwards', async () => {
    const log = await bench.open({ segmentBytes: 100 })
    for (const text of ['a', 'b', 'c', 'd']) await log.append(textRecord(text.repeat(30)))
    const [first] = await log.read(log.committed, 0)
    const [second] = await log.read(first?.end ?? log.committed, 0)
    await log.commit(second?.end ?? log.committed)
    await log.commit(first?.end ?? log.committed)
    expect(await bench.segmentFiles()).toHaveLength(2)
    await log.close()
    const again = await bench.open({ segmentBytes: 100 })
    expect(await readTexts(again)).toEqual(['c'.repeat(30), 'd'.repeat(30)])
    expect(again.stats()).toMatchObject({ frames_waiting: 2, items_waiting: 4, segments: 2 })
    expect(again.stats().recovered).toBeUndefined()
  })

  it('counts the waiting records and returns the age of the oldest', async () => {
    const log = await bench.open()
    expect(log.stats()).toMatchObject({ frames_waiting: 0, bytes: 0, oldest_waiting_at: null })
    const first = await log.append(textRecord('a', 100))
    const second = await log.append(textRecord('b', 200))
    expect(log.stats()).toMatchObject({ frames_waiting: 2, oldest_waiting_at: 100 })
    await log.commit(first)
    expect(log.stats()).toMatchObject({ frames_waiting: 1, oldest_waiting_at: 200, bytes: 49 })
    await log.commit(second)
    expect(log.stats()).toMatchObject({ frames_waiting: 0, oldest_waiting_at: null, bytes: 0 })
    await log.append(textRecord('c', 300))
    expect(log.stats()).toMatchObject({ frames_waiting: 1, oldest_waiting_at: 300 })
  })

  it('refuses a position beyond the end', async () => {
    const log = await bench.open()
    await log.append(textRecord('a'))
    await expect(log.commit({ segment: 9, offset: 99 })).rejects.toMatchObject({ code: 'internal' })
    expect(await readTexts(log)).toEqual(['a'])
  })

  it('reads everything again when the position file is damaged', async () => {
    const log = await bench.open()
    await log.append(textRecord('a'))
    await log.commit(await log.append(textRecord('b')))
    await log.append(textRecord('c'))
    await log.close()
    await flipByte(join(bench.dir, 'position'), 0)
    expect(await readTexts(await bench.open())).toEqual(['a', 'b', 'c'])
  })

  it('never reuses a position for other bytes when segments are gone', async () => {
    const log = await bench.open()
    const end = await log.append(textRecord('a'))
    await log.commit(end)
    await log.close()
    for (const name of await bench.segmentFiles()) await rm(join(bench.dir, name))
    const again = await bench.open()
    await again.append(textRecord('b'))
    expect(await readTexts(again)).toEqual(['b'])
  })
})

describe('the limit', () => {
  it('INGEST-2: refuses a record beyond maxBytes before writing it, and accepts more after a commit', async () => {
    const log = await bench.open({ maxBytes: 400, segmentBytes: 150 })
    const ends = [
      await log.append(textRecord('x'.repeat(100))),
      await log.append(textRecord('y'.repeat(100))),
    ]
    const queued = log.append(textRecord('z'.repeat(50)))
    await expect(log.append(textRecord('q'))).rejects.toMatchObject({
      code: 'log_full',
      retryable: true,
      details: { bytes: 394, max_bytes: 400 },
    })
    await queued
    expect(log.stats().bytes).toBe(394)
    await log.commit(ends[0] ?? log.committed)
    await log.append(textRecord('q'.repeat(100)))
    expect((await readTexts(log)).map((text) => text.length)).toEqual([100, 50, 100])
  })

  it('accepts records of any size again when a full log is completely stored', async () => {
    const log = await bench.open({ maxBytes: 400, segmentBytes: 1_000 })
    for (let round = 0; round < 10; round++) await log.commit(await log.append(textRecord('x'.repeat(352))))
    expect(log.stats()).toMatchObject({ bytes: 0, frames_waiting: 0 })
    expect(log.stats().disk_bytes).toBeLessThan(1_000)
  })
})

describe('the lock', () => {
  it('refuses a second process, and accepts it after the close', async () => {
    const log = await bench.open()
    await expect(bench.open()).rejects.toMatchObject({ code: 'log_unusable', details: { pid: process.pid } })
    await log.append(textRecord('a'))
    await log.close()
    await log.close()
    expect(await readTexts(await bench.open())).toEqual(['a'])
    await expect(log.append(textRecord('b'))).rejects.toMatchObject({ code: 'shutting_down' })
    await expect(log.commit(log.committed)).rejects.toMatchObject({ code: 'shutting_down' })
  })

  it('is taken over from a dead process, from a process whose id was reused, and from a damaged file', async () => {
    const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
    await once(child, 'exit')
    const stale = [{ pid: child.pid, started: '1' }, { pid: process.pid, started: '1' }, 'nonsense', {}]
    for (const owner of stale) {
      await writeFile(join(bench.dir, 'lock'), JSON.stringify(owner))
      const log = await bench.open()
      expect(await readFile(join(bench.dir, 'lock'), 'utf8')).toContain(String(process.pid))
      await log.close()
    }
    expect((await readdir(bench.dir)).filter((name) => name.startsWith('lock'))).toEqual([])
  })

  it('is not held in a copy of the folder', async () => {
    const log = await bench.open()
    const copy = `${bench.dir}/copy`
    await cp(join(bench.dir, 'lock'), join(copy, 'lock'))
    const ofCopy = await openIngestLog({
      dir: copy,
      maxBytes: 1 << 20,
      logger: createLogger({ level: 'silent' }),
    })
    await expect(bench.open()).rejects.toMatchObject({ code: 'log_unusable' })
    await ofCopy.close()
    await log.close()
  })

  it('is read again when another process has just taken it over', async () => {
    await writeFile(join(bench.dir, 'lock'), 'nonsense')
    // The guard file between two steps of the other process: it exists when this process tries to create it, and is
    // gone when this process reads it.
    const guard = join(bench.dir, 'lock.takeover')
    await symlink('nowhere', guard)
    const opening = bench.open()
    opening.catch(() => undefined)
    // Enough turns of the event loop for this process to read the guard.
    for (let turn = 0; turn < 100; turn++) await readdir(bench.dir)
    await rm(guard)
    expect(await readTexts(await opening)).toEqual([])
  })

  it('is acquired by one of several processes that open it at once', async () => {
    await writeFile(join(bench.dir, 'lock'), JSON.stringify({ pid: process.pid, started: '1' }))
    const results = await Promise.allSettled([1, 2, 3].map(() => bench.open()))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})

describe('closing', () => {
  it('finishes the appends in progress', async () => {
    const log = await bench.open()
    const appends = ['a', 'b', 'c'].map((text) => log.append(textRecord(text)))
    await log.close()
    await Promise.all(appends)
    expect(await readTexts(await bench.open())).toEqual(['a', 'b', 'c'])
  })

  it('leaves files of which a copy can be opened', async () => {
    const log = await bench.open()
    await log.append(textRecord('a'))
    const copy = await newFolder()
    await copyFile(segmentPath(bench.dir, 1), segmentPath(copy, 1))
    await appendFile(segmentPath(copy, 1), 'half a fra')
    const other = await bench.open({ dir: copy })
    expect(await readTexts(other)).toEqual(['a'])
    expect(other.stats().recovered?.bytes_dropped).toBe(10)
    await other.close()
  })
})
