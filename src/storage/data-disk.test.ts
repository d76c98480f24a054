import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createLogger } from '../base/log.ts'
import { createMetrics } from '../base/metrics.ts'
import type { DataDisk } from '../ingest/data-disk.ts'
import { type DataDiskOptions, watchDataDisk } from './data-disk.ts'

let dir: string
let lines: string[]
let disk: DataDisk | undefined
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'weir-'))
  lines = []
})
afterEach(async () => {
  await disk?.stop()
  await rm(dir, { recursive: true })
})

const messages = (): unknown[] => lines.map((line) => (JSON.parse(line) as { code?: string; msg: string }).msg)

async function watch(options: Partial<DataDiskOptions>): Promise<DataDisk> {
  const logger = createLogger({ level: 'trace', destination: { write: (line) => void lines.push(line) } })
  return (disk = await watchDataDisk({ dir, minFreeBytes: 1, logger, metrics: createMetrics(), freshMs: 0, ...options }))
}

function failing(code: string): Promise<never> {
  return Promise.reject(Object.assign(new Error(code), { code }))
}

it('knows how much is free, and leaves nothing behind', async () => {
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
])('%s is %s, with words, until a write succeeds', async (reason, code) => {
  let broken = true
  await watch({ tryWrite: () => (broken ? failing(reason) : Promise.resolve()) })
  await expect(disk?.check()).rejects.toMatchObject({ code, message: expect.stringContaining(reason) })
  broken = false
  await disk?.check()
  expect(disk?.state().problem).toBeNull()
  expect(messages()).toEqual([
    expect.stringContaining(reason),
    'the disk of DATA_DIR takes writes again',
  ])
})

it('counts as full when less is free than there should be', async () => {
  await watch({ minFreeBytes: 2 ** 60 })
  await expect(disk?.check()).rejects.toMatchObject({
    code: 'disk_full',
    message: expect.stringContaining('DISK_MIN_FREE_BYTES'),
  })
})

/** A disk that takes its first write and then none until `hangs` is resolved. */
function hangingDisk() {
  const asked: string[] = []
  const hangs = Promise.withResolvers<void>()
  const tryWrite = (file: string): Promise<void> => {
    asked.push(file)
    return asked.length === 1 ? Promise.resolve() : hangs.promise
  }
  return { asked, hangs, tryWrite }
}

it('reports a disk that hangs, and starts no second write on it', async () => {
  const { asked, hangs, tryWrite } = hangingDisk()
  await watch({ tryWrite, answerMs: 20, hangMs: 20 })
  for (let n = 0; n < 3; n++) {
    await expect(disk?.check()).rejects.toMatchObject({ code: 'disk_unwritable' })
  }
  expect(asked).toHaveLength(2)
  hangs.resolve()
})

it('answers with the state before while a busy disk takes its time', async () => {
  const { asked, hangs, tryWrite } = hangingDisk()
  await watch({ tryWrite, answerMs: 20 })
  for (let n = 0; n < 3; n++) expect((await disk?.look())?.problem).toBeNull()
  expect([asked.length, lines]).toEqual([2, []])
  hangs.resolve()
})

it('a folder that is gone takes nothing', async () => {
  await watch({})
  await rm(dir, { recursive: true })
  await expect(disk?.check()).rejects.toMatchObject({ code: 'disk_unwritable' })
  dir = await mkdtemp(join(tmpdir(), 'weir-'))
})
