import { randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { toDiskError } from '../base/disk-errors.ts'
import { AppError } from '../base/errors.ts'
import type { BlobStore } from '../ingest/blob-store.ts'
import type { Blob } from '../trace/decoded.ts'

const SHA256 = /^[0-9a-f]{64}$/

async function syncDirectory(dir: string): Promise<void> {
  const handle = await open(dir, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

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

/**
 * A blob store in files: `dir/ab/abcdef…` by the hex digits of the hash. A file appears under its name only when
 * its bytes are on disk, so a reader and a crash never see half of one.
 */
export function createFileBlobStore(dir: string): BlobStore {
  const dirOf = (sha256: string): string => join(dir, sha256.slice(0, 2))

  const putOne = async ({ sha256, bytes }: Blob): Promise<void> => {
    if (!SHA256.test(sha256))
      throw new AppError('internal', { message: 'A blob is named by its SHA-256 in hex.' })
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
      // Also for blobs that were there: another put may have renamed one a moment ago and not be durable yet.
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
  }
}
