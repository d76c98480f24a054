import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import {
  failOn,
  faultyFiles,
  flipByte,
  readTexts,
  textRecord,
  useLogBench,
} from '../../../test/support/stores/ingest-log.ts'
import { createLogger } from '../../base/log.ts'
import { segmentPath } from './files.ts'
import { encodeFrameHeader, FRAME_HEADER_BYTES, SEGMENT_HEADER_BYTES } from './frame.ts'

const MEGABYTE = 1024 * 1024
const bench = useLogBench()

describe('a failing disk', () => {
  it.each([
    ['a write', { onWrite: failOn('ENOSPC', 2) }],
    ['a short write', { maxWrite: 60, onWrite: failOn('ENOSPC', 4) }],
    ['the fdatasync', { onSync: failOn('ENOSPC', 2) }],
    [
      'the fdatasync and the truncate after it',
      { onSync: failOn('ENOSPC', 2), onTruncate: failOn('EIO', 1) },
    ],
  ])('when %s fails, rejects those appends and continues in a new segment', async (_what, faults) => {
    const log = await bench.open({ fsync: true, openFile: faultyFiles(faults) })
    await log.append(textRecord('a'))
    const failing = [log.append(textRecord('lost'.repeat(10))), log.append(textRecord('lost too'))]
    for (const result of await Promise.allSettled(failing)) {
      expect(result).toMatchObject({ reason: { code: 'disk_full', details: { reason: 'ENOSPC' } } })
    }
    await log.append(textRecord('b'))
    expect(await readTexts(log)).toEqual(['a', 'b'])
    expect(log.stats()).toMatchObject({ frames_waiting: 2, segments: 2, damaged_bytes: 0 })
    await log.close()
    const texts = await readTexts(await bench.open())
    expect(texts.filter((text) => !text.startsWith('lost'))).toEqual(['a', 'b'])
  })

  it.each([
    ['cannot create a file', { onCreate: failOn('EACCES', 1) }],
    ['fails on the first write', { onWrite: failOn('EACCES', 1) }],
    ['fails on the first fdatasync', { onSync: failOn('EACCES', 1) }],
  ])('when a new segment %s, leaves no file behind', async (_what, faults) => {
    const log = await bench.open({ fsync: true, openFile: faultyFiles(faults) })
    await expect(log.append(textRecord('a'))).rejects.toMatchObject({ code: 'log_unavailable' })
    expect(await bench.segmentFiles()).toEqual([])
    await log.commit(await log.append(textRecord('b')))
    await log.append(textRecord('c'))
    expect(await readTexts(log)).toEqual(['c'])
    expect(await bench.segmentFiles()).toHaveLength(1)
  })

  it('continues short writes', async () => {
    const log = await bench.open({ openFile: faultyFiles({ maxWrite: 7 }) })
    await Promise.all([log.append(textRecord('hello')), log.append(textRecord('world'))])
    expect(await readTexts(log)).toEqual(['hello', 'world'])
  })
})

describe('damage', () => {
  const TEXTS = ['first record', 'second record', 'the last one']
  const LAST_BYTES = FRAME_HEADER_BYTES + 12

  async function writeSegment(): Promise<{ path: string; whole: Buffer }> {
    const log = await bench.open()
    for (const text of TEXTS) await log.append(textRecord(text))
    await log.close()
    const path = segmentPath(bench.dir, 1)
    return { path, whole: await readFile(path) }
  }

  it('cuts off the last frame wherever it was truncated', async () => {
    const { path, whole } = await writeSegment()
    const lastStart = whole.length - LAST_BYTES
    for (let length = lastStart; length < whole.length; length++) {
      await writeFile(path, whole.subarray(0, length))
      const log = await bench.open()
      expect(await readTexts(log)).toEqual(TEXTS.slice(0, 2))
      const dropped = length - lastStart
      const report = { segment: 1, offset: lastStart, bytes_dropped: dropped }
      expect(log.stats().recovered).toEqual(dropped === 0 ? undefined : report)
      expect(log.stats()).toMatchObject({ frames_waiting: 2, damaged_bytes: 0 })
      await log.close()
      expect((await readFile(path)).length).toBe(lastStart)
    }
  })

  it('reports a frame that was cut off without saying that nobody was told of it', async () => {
    const { path, whole } = await writeSegment()
    await writeFile(path, whole.subarray(0, whole.length - 1))
    const lines: { level: string; msg: string; bytes_dropped: number }[] = []
    const write = (line: string): void => void lines.push(JSON.parse(line) as (typeof lines)[0])
    await bench.open({ logger: createLogger({ destination: { write } }) })
    const msg = expect.stringContaining(
      'if the disk lost or changed it, acknowledged runs are missing',
    ) as string
    expect(lines).toMatchObject([{ level: 'warn', bytes_dropped: LAST_BYTES - 1, msg }])
  })

  it('cuts off the last frame whichever byte of it is wrong', async () => {
    const { path, whole } = await writeSegment()
    for (let offset = whole.length - LAST_BYTES; offset < whole.length; offset++) {
      await writeFile(path, whole)
      await flipByte(path, offset)
      const log = await bench.open()
      expect(await readTexts(log)).toEqual(TEXTS.slice(0, 2))
      await log.append(textRecord('after'))
      expect(await readTexts(log)).toEqual([...TEXTS.slice(0, 2), 'after'])
      await log.close()
      await rm(segmentPath(bench.dir, 2))
    }
  })

  it('opens a log with a segment whose header was not durable', async () => {
    for (const length of [0, 1, SEGMENT_HEADER_BYTES - 1, SEGMENT_HEADER_BYTES]) {
      const { path } = await writeSegment()
      await truncate(path, length)
      const log = await bench.open()
      expect(await readTexts(log)).toEqual([])
      expect(await bench.segmentFiles()).toEqual([])
      await log.close()
    }
  })

  it.each([
    ['opening', true],
    ['reading', false],
  ])('found when %s: skips a damaged record, reports how much, keeps the file', async (_when, reopen) => {
    const { path } = await writeSegment()
    let log = await bench.open()
    await log.append(textRecord('next segment'))
    if (reopen) await log.close()
    await flipByte(path, SEGMENT_HEADER_BYTES + FRAME_HEADER_BYTES + 3)
    if (reopen) log = await bench.open()
    expect(await readTexts(log)).toEqual([...TEXTS.slice(1), 'next segment'])
    expect(log.stats().damaged_bytes).toBe(FRAME_HEADER_BYTES + 12)
    expect(log.stats().recovered).toBeUndefined()
    const frames = await log.read(log.committed, MEGABYTE)
    await log.commit(frames.at(-1)?.end ?? log.committed)
    expect(await bench.segmentFiles()).toEqual(['000000000001.log.damaged', '000000000002.log'])
    expect(log.stats()).toMatchObject({ frames_waiting: 1, items_waiting: 2 })
    expect(await readTexts(log)).toEqual(['next segment'])
  })

  it('does not cut off complete records behind a damaged one in the last segment', async () => {
    const { path, whole } = await writeSegment()
    await flipByte(path, SEGMENT_HEADER_BYTES)
    const log = await bench.open()
    expect(await readTexts(log)).toEqual(TEXTS.slice(1))
    expect((await readFile(path)).length).toBe(whole.length)
  })

  it('reads on after damage at the end of a growing segment', async () => {
    const log = await bench.open()
    for (const text of TEXTS) await log.append(textRecord(text))
    const { length } = await readFile(segmentPath(bench.dir, 1))
    await flipByte(segmentPath(bench.dir, 1), length - 1)
    expect(await readTexts(log)).toEqual(TEXTS.slice(0, 2))
    const end = (await log.read(log.committed, MEGABYTE)).at(-1)?.end ?? log.committed
    const waiting = log.waitForData(end, new AbortController().signal)
    await log.append(textRecord('after'))
    await waiting
    expect(await readTexts(log)).toEqual([...TEXTS.slice(0, 2), 'after'])
  })

  it('moves a segment with a damaged header aside, and reads the others', async () => {
    const { path } = await writeSegment()
    const log = await bench.open()
    await log.append(textRecord('next segment'))
    await log.close()
    await flipByte(path, 17)
    const again = await bench.open()
    expect(await readTexts(again)).toEqual(['next segment'])
    expect(again.stats().damaged_bytes).toBeGreaterThan(0)
    expect(await bench.segmentFiles()).toEqual(['000000000001.log.damaged', '000000000002.log'])
  })

  it('does not mistake a payload for a frame', async () => {
    const log = await bench.open()
    const fake = { length: 4, payload_crc: 0, kind: 1, count: 1, received_at: 0, frames: 0, items: 0 }
    const bytes = Buffer.concat([encodeFrameHeader({ ...fake, length: 0 }, 0), Buffer.from('evil')])
    await log.append({ ...textRecord(''), payload: bytes })
    await log.append(textRecord('good'))
    await log.close()
    await flipByte(segmentPath(bench.dir, 1), SEGMENT_HEADER_BYTES)
    expect(await readTexts(await bench.open())).toEqual(['good'])
  })

  it('refuses a later format with a message', async () => {
    const { path, whole } = await writeSegment()
    whole.writeUInt32LE(2, 8)
    whole.writeUInt32LE(crc32(whole.subarray(0, 20)), 20)
    await writeFile(path, whole)
    await expect(bench.open()).rejects.toMatchObject({ code: 'log_unusable', details: { version: 2 } })
    expect(await readdir(bench.dir)).not.toContain('lock')
  })

  it('ignores files that are not its own', async () => {
    await writeFile(join(bench.dir, 'notes.txt'), 'hello')
    await writeFile(join(bench.dir, '12.log'), 'hello')
    const log = await bench.open()
    await log.append(textRecord('a'))
    expect(await readTexts(log)).toEqual(['a'])
  })
})
