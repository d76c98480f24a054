import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLogger } from '../../base/log.ts'
import { createMetrics } from '../../base/metrics.ts'
import type { DataDisk } from '../../ingest/store/data-disk.ts'
import { type DataDiskOptions, watchDataDisk } from './data-disk.ts'
import { newFolder } from '../../../test/support/folder.ts'

let dir: string
let lines: string[]
let disk: DataDisk | undefined
beforeEach(async () => {
  dir = await newFolder()
  lines = []
})
afterEach(async () => {
  await disk?.stop()
})

const messages = (): unknown[] =>
  lines.map((line) => (JSON.parse(line) as { code?: string; msg: string }).msg)

async function watch(options: Partial<DataDiskOptions>): Promise<DataDisk> {
  const logger = createLogger({ level: 'trace', destination: { write: (line) => void lines.push(line) } })
  return (disk = await watchDataDisk({
    dir,
    minFreeBytes: 1,
    logger,
    metrics: createMetrics(),
    freshMs: 0,
    ...options,
  }))
}

function failing(code: string): Promise<never> {
  return Promise.reject(Object.assign(new Error(code), { code }))
}

it('reports the free space, and removes its test file', async () => {
  const { free_bytes, size_bytes, problem } = (await watch({})).state()
  expect(free_bytes).toBeGreaterThan(0)
  expect(size_bytes).toBeGreaterThanOrEqual(free_bytes)
  expect(problem).toBeNull()
  await disk?.check()
  expect([await readdir(dir), lines]).toEqual([[], []])
})

it.each([
  ['ENOSPC', 'disk_full'],
  ['EDQUOT', 'disk_full'],
  ['EROFS', 'disk_unwritable'],
  ['EIO', 'disk_unwritable'],
])('%s is reported as %s with a message until a write succeeds', async (reason, code) => {
  let broken = true
  await watch({ tryWrite: () => (broken ? failing(reason) : Promise.resolve()) })
  await expect(disk?.check()).rejects.toMatchObject({ code, message: expect.stringContaining(reason) })
  broken = false
  await disk?.check()
  expect(disk?.state().problem).toBeNull()
  expect(messages()).toEqual([expect.stringContaining(reason), 'the disk of DATA_DIR is writable again'])
})

it('counts as full below the minimum of free space', async () => {
  await watch({ minFreeBytes: 2 ** 60 })
  await expect(disk?.check()).rejects.toMatchObject({
    code: 'disk_full',
    message: expect.stringContaining('DISK_MIN_FREE_BYTES'),
  })
})

/**
 * A disk whose first write succeeds, and whose later writes wait until `hangs` resolves. `asked` resolves at the second
 * write.
 */
function hangingDisk() {
  const files: string[] = []
  const [asked, hangs] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const tryWrite = (file: string): Promise<void> => {
    if (files.push(file) === 1) return Promise.resolve()
    asked.resolve()
    return hangs.promise
  }
  return { files, asked: asked.promise, hangs, tryWrite }
}

describe('a disk that does not answer', () => {
  // Only the clock and the timers of the watcher are faked, because file operations need real time.
  beforeEach(() => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
    })
  })
  afterEach(() => void vi.useRealTimers())

  it('is reported after 30 seconds, and no second write is started on it', async () => {
    const { files, asked, hangs, tryWrite } = hangingDisk()
    await watch({ tryWrite })
    const before = disk?.look()
    await asked
    await vi.advanceTimersByTimeAsync(30_000)
    expect((await before)?.problem).toBeNull()
    for (let n = 0; n < 3; n++) {
      const refused = expect(disk?.check()).rejects.toMatchObject({ code: 'disk_unwritable' })
      await vi.advanceTimersByTimeAsync(2_000)
      await refused
    }
    expect(files).toHaveLength(2)
    hangs.resolve()
  })

  it('returns the previous state until then', async () => {
    const { files, asked, hangs, tryWrite } = hangingDisk()
    await watch({ tryWrite })
    for (let n = 0; n < 3; n++) {
      const looked = disk?.look()
      await asked
      await vi.advanceTimersByTimeAsync(2_000)
      expect((await looked)?.problem).toBeNull()
    }
    expect([files.length, lines]).toEqual([2, []])
    hangs.resolve()
  })
})

it('a deleted folder is not writable', async () => {
  await watch({})
  await rm(dir, { recursive: true })
  await expect(disk?.check()).rejects.toMatchObject({ code: 'disk_unwritable' })
  dir = await mkdtemp(join(tmpdir(), 'weir-'))
})

it('has space until it was measured as full, and is checked again only then', async () => {
  let [writes, broken] = [0, false]
  await watch({ tryWrite: () => (writes++, broken ? failing('ENOSPC') : Promise.resolve()) })
  broken = true
  await disk?.assertRoom()
  expect(writes).toBe(1)
  await disk?.look()
  await expect(disk?.assertRoom()).rejects.toMatchObject({ code: 'disk_full' })
  broken = false
  await disk?.assertRoom()
  expect(writes).toBe(4)
})
