import { randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { toDiskError } from '../../base/files/disk-errors.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import { AppError } from '../../base/errors.ts'
import { RecentMap } from '../../base/recent-map.ts'
import type { BlobStore } from '../../ingest/store/blob-store.ts'
import type { Blob } from '../../trace/decode/decoded.ts'
import { syncDirectory } from '../../base/files/sync-directory.ts'

/** Puts whose time is remembered: more than come while a removal is decided. */
const MAX_REMEMBERED = 100_000
const SHA256 = /^[0-9a-f]{64}$/

async function writeDurably(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(bytes)
    await handle.datasync()
  } finally {
    await handle.close()
  }
}

async function sizeOf(file: string): Promise<number | undefined> {
  return await stat(file).then(
    ({ size }) => size,
    () => undefined,
  )
}

/** Keeps puts and removals of the same bytes apart. One process has the folder. */
function createTurns(clock: Clock) {
  const removals = new Map<string, Promise<unknown>>()
  const putting = new Map<string, number>()
  const lastPut = new RecentMap<string, number>(MAX_REMEMBERED)
  return {
    async put(sha256: string, work: () => Promise<void>): Promise<void> {
      while (removals.has(sha256)) await removals.get(sha256)?.catch(() => undefined)
      putting.set(sha256, (putting.get(sha256) ?? 0) + 1)
      try {
        await work()
      } finally {
        const others = (putting.get(sha256) ?? 1) - 1
        if (others === 0) putting.delete(sha256)
        else putting.set(sha256, others)
        lastPut.set(sha256, clock.now())
      }
    },
    /** False, and nothing done, when bytes are being put or were put after the time. */
    async remove(sha256: string, until: number, work: () => Promise<void>): Promise<boolean> {
      // There is no `await` between here and the entry of the removal, so a concurrent put either is found
      // here or waits for the removal.
      if (putting.has(sha256) || (lastPut.get(sha256) ?? 0) > until) return false
      const removal = work().finally(() => removals.delete(sha256))
      removals.set(sha256, removal)
      await removal
      return true
    },
  }
}

/**
 * A blob store in files: `dir/ab/abcdef…` by the hex digits of the hash. A file gets its name only when its bytes are
 * on disk, so a read, also after a crash, never returns a part of one.
 */
export function createFileBlobStore(dir: string, clock: Clock = systemClock): BlobStore {
  const dirOf = (sha256: string): string => join(dir, sha256.slice(0, 2))
  const turns = createTurns(clock)

  const putOne = async (blob: Blob): Promise<void> => {
    const { sha256 } = blob
    if (!SHA256.test(sha256))
      throw new AppError('internal', { message: 'A blob is named by its SHA-256 in hex.' })
    await turns.put(sha256, () => write(blob))
  }

  const write = async ({ sha256, bytes }: Blob): Promise<void> => {
    const file = join(dirOf(sha256), sha256)
    if ((await sizeOf(file)) === bytes.length) return
    const half = `${file}.${randomUUID()}.part`
    try {
      await mkdir(dirOf(sha256), { recursive: true })
      await writeDurably(half, bytes)
      await rename(half, file)
    } catch (error) {
      await rm(half, { force: true })
      throw toDiskError(error) ?? error
    }
  }

  return {
    async put(blobs) {
      if (blobs.length === 0) return
      for (const blob of blobs) await putOne(blob)
      // Also for existing blobs: another put may have renamed one a moment ago, so that it is not durable yet.
      for (const sub of new Set(blobs.map(({ sha256 }) => dirOf(sha256)))) await syncDirectory(sub)
      await syncDirectory(dir)
    },
    async read(sha256) {
      if (!SHA256.test(sha256)) return undefined
      const handle = await open(join(dirOf(sha256), sha256)).catch(() => undefined)
      if (handle === undefined) return undefined
      const { size } = await handle.stat()
      return { size, bytes: handle.createReadStream() }
    },
    async remove(sha256, until) {
      if (!SHA256.test(sha256)) return true
      return await turns.remove(sha256, until, () => rm(join(dirOf(sha256), sha256), { force: true }))
    },
  }
}
