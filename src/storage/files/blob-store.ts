import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, link, mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { toDiskError } from '../../base/files/disk-errors.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import { AppError } from '../../base/errors.ts'
import type { ListedBlobStore } from '../../ingest/store/blob-store.ts'
import type { Blob } from '../../trace/decode/decoded.ts'
import { syncDirectory } from '../../base/files/sync-directory.ts'

const MS_PER_S = 1000
const SHA256 = /^[0-9a-f]{64}$/
const SUBFOLDER = /^[0-9a-f]{2}$/
/** A file that is being written or removed. A process that is killed meanwhile leaves it. */
const UNFINISHED = /^[0-9a-f]{64}\.[0-9a-f-]{36}\.(part|gone)$/
/** Milliseconds after which such a file counts as left; longer than any write takes. */
const LEFT_MS = 3_600_000
/** Size of the pieces in which a stored file is compared with what is put. */
const COMPARED_BYTES = 1 << 20

async function writeDurably(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(bytes)
    await handle.datasync()
  } finally {
    await handle.close()
  }
}

/**
 * Size of a file, and time of its last put; undefined if there is no such file. @throws AppError store_unavailable on
 * any other failure, so that the file does not count as missing
 */
async function stateOf(file: string): Promise<{ size: number; put_at: number } | undefined> {
  try {
    const { size, mtimeMs } = await stat(file)
    return { size, put_at: Math.round(mtimeMs) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new AppError('store_unavailable', {
      message: 'The state of a stored file could not be read.',
      cause: error,
    })
  }
}

/** Whether the file has exactly these bytes; false also if they cannot be read. */
async function hasBytes(file: string, bytes: Uint8Array): Promise<boolean> {
  let at = 0
  try {
    for await (const chunk of createReadStream(file, {
      highWaterMark: COMPARED_BYTES,
    }) as AsyncIterable<Buffer>) {
      if (!chunk.equals(bytes.subarray(at, at + chunk.length))) return false
      at += chunk.length
    }
  } catch {
    return false
  }
  return at === bytes.length
}

/** Opens the file. Returns undefined if there is no such file; any other failure is an error. */
async function opened(file: string): Promise<FileHandle | undefined> {
  return await open(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}

/** Sets the time of the last put, in seconds. Returns false if there is no such file any more. */
async function setTime(file: string, seconds: number): Promise<boolean> {
  return await utimes(file, seconds, seconds).then(
    () => true,
    () => false,
  )
}

/** The names in a folder; none if it does not exist. */
async function namesIn(dir: string): Promise<string[]> {
  return await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
}

/**
 * Removes a file that was last put until then; returns false if it was put later. It is renamed first, so that a put by
 * another server that shares the folder either is seen here or does not find the file and writes it again.
 */
async function removeFile(file: string, until: number): Promise<boolean> {
  if (((await stateOf(file))?.put_at ?? 0) > until) return false
  const gone = `${file}.${randomUUID()}.gone`
  const isThere = await rename(file, gone).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )
  if (!isThere) return true
  const isPut = ((await stateOf(gone))?.put_at ?? 0) > until
  if (isPut)
    await link(gone, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  await rm(gone, { force: true })
  return !isPut
}

/** Removes the files that killed processes left in a folder. */
async function removeLeft(folder: string, before: number): Promise<void> {
  for (const name of await namesIn(folder)) {
    const file = join(folder, name)
    if (UNFINISHED.test(name) && ((await stateOf(file))?.put_at ?? before) < before)
      await rm(file, { force: true })
  }
}

/** Ensures that a put and a removal of the same bytes never overlap within this process. */
function createTurns() {
  const removals = new Map<string, Promise<unknown>>()
  const putting = new Map<string, number>()
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
      }
    },
    /** Runs `work`; returns false without calling it while the bytes are being put. */
    async remove(sha256: string, work: () => Promise<boolean>): Promise<boolean> {
      // There is no `await` between this check and `removals.set`. So a concurrent put is either found here, or waits
      // for the removal.
      if (putting.has(sha256)) return false
      const removal = work().finally(() => removals.delete(sha256))
      removals.set(sha256, removal)
      return await removal
    },
  }
}

/**
 * A blob store in files: `dir/ab/abcdef…` by the hex digits of the hash. A file gets its name only when its bytes are
 * on disk, so a read always returns a whole blob, even after a crash. The modification time of a file is the time of
 * its last put, so that servers that share the folder see the puts of other servers.
 */
export function createFileBlobStore(dir: string, clock: Clock = systemClock): ListedBlobStore {
  const dirOf = (sha256: string): string => join(dir, sha256.slice(0, 2))
  const turns = createTurns()
  /** The folders in which left files were looked for since the start. */
  const looked = new Set<string>()

  const putOne = async (blob: Blob): Promise<void> => {
    const { sha256 } = blob
    if (!SHA256.test(sha256))
      throw new AppError('internal', { message: 'A blob is named by its SHA-256 in hex.' })
    await turns.put(sha256, () => write(blob))
  }

  const write = async ({ sha256, bytes }: Blob): Promise<void> => {
    const file = join(dirOf(sha256), sha256)
    const putAt = clock.now() / MS_PER_S
    const isStored = (await stateOf(file))?.size === bytes.length && (await hasBytes(file, bytes))
    if (isStored && (await setTime(file, putAt))) return
    const half = `${file}.${randomUUID()}.part`
    try {
      await mkdir(dirOf(sha256), { recursive: true })
      if (!looked.has(dirOf(sha256))) await removeLeft(dirOf(sha256), clock.now() - LEFT_MS)
      looked.add(dirOf(sha256))
      await writeDurably(half, bytes)
      await setTime(half, putAt)
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
      // Folders of existing blobs are synced too. Another put may have renamed such a blob just now, and its name may
      // not be durable yet.
      for (const sub of new Set(blobs.map(({ sha256 }) => dirOf(sha256)))) await syncDirectory(sub)
      await syncDirectory(dir)
    },
    async read(sha256) {
      if (!SHA256.test(sha256)) return undefined
      const handle = await opened(join(dirOf(sha256), sha256))
      if (handle === undefined) return undefined
      const { size } = await handle.stat()
      return { size, bytes: handle.createReadStream() }
    },
    async *list() {
      for (const sub of await namesIn(dir))
        for (const name of SUBFOLDER.test(sub) ? await namesIn(join(dir, sub)) : [])
          if (SHA256.test(name)) yield name
    },
    async remove(sha256, until) {
      if (!SHA256.test(sha256)) return true
      const file = join(dirOf(sha256), sha256)
      return await turns.remove(sha256, () => removeFile(file, until))
    },
  }
}
