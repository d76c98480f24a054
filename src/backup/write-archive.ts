import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress } from 'node:zlib'
import { syncDirectory } from '../base/files/sync-directory.ts'
import { type CopiedFile, LAYOUT, unusable } from './archive.ts'
import { countLines } from './lines.ts'
import type { Manifest, StoreName, TableContent } from './stores.ts'

/** Writes a backup into a folder, a piece at a time. */
export interface ArchiveWriter {
  table(store: StoreName, table: string, content: TableContent): Promise<void>
  /** Copies a file. `path` is relative. Each copy is on disk before `finish` resolves. */
  file(path: string, bytes: AsyncIterable<Uint8Array>, mode: number): Promise<{ sha256: string }>
  link(path: string, target: string): Promise<void>
  /** Writes the manifest, which completes the backup. */
  finish(facts: Omit<Manifest, 'tables' | 'files' | 'format'>): Promise<Manifest>
}

const FORMAT = 1
const PRIVATE = { mode: 0o600, flags: 'wx', flush: true } as const

/** @throws AppError backup_unusable for a folder that is not empty */
export async function createArchive(dir: string): Promise<ArchiveWriter> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  if ((await readdir(dir)).length > 0)
    throw unusable(`${dir} is not empty. Name a new folder for the backup.`)
  const tables: Manifest['tables'] = []
  const index = openIndex(join(dir, LAYOUT.files))
  let count = 0
  let total = 0
  return {
    async table(store, table, { columns, lines }) {
      const path = join(dir, LAYOUT.table({ store, table }))
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      let rows = 0
      const counted = async function* (): AsyncGenerator<Uint8Array> {
        for await (const piece of lines) {
          rows += countLines(piece)
          yield piece
        }
      }
      const digest = createDigest()
      await pipeline(counted, createZstdCompress(), digest.pass, createWriteStream(path, PRIVATE))
      tables.push({ store, table, columns: [...columns], rows, ...digest.end() })
    },
    async file(path, bytes, mode) {
      const copy = join(dir, LAYOUT.copies, path)
      await mkdir(dirname(copy), { recursive: true, mode: 0o700 })
      const digest = createDigest()
      await pipeline(bytes, digest.pass, createWriteStream(copy, PRIVATE))
      const end = digest.end()
      await index.add({ path, ...end, mode: mode & 0o777 })
      count++
      total += end.bytes
      return end
    },
    async link(path, target) {
      await index.add({ path, link: target })
      count++
    },
    async finish(facts) {
      const files = { count, bytes: total, sha256: await index.end() }
      const manifest: Manifest = { format: FORMAT, ...facts, tables, files }
      await writeWhole(dir, LAYOUT.manifest, `${JSON.stringify(manifest, null, 2)}\n`)
      return manifest
    },
  }
}

/** Creates a stream that hashes and counts its bytes. */
function createDigest() {
  const hash = createHash('sha256')
  let bytes = 0
  return {
    async *pass(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const piece of source) {
        hash.update(piece)
        bytes += piece.length
        yield piece
      }
    },
    end: () => ({ bytes, sha256: hash.digest('hex') }),
  }
}

/** The list of copied files, written as it grows. */
function openIndex(path: string) {
  const lines = new Readable({ read: () => take(), encoding: 'utf8' })
  let take = (): void => undefined
  const digest = createDigest()
  const written = pipeline(lines, createZstdCompress(), digest.pass, createWriteStream(path, PRIVATE))
  written.catch(() => undefined) // both `end` and `add` reject with this error
  return {
    async add(file: CopiedFile): Promise<void> {
      if (lines.push(`${JSON.stringify(file)}\n`)) return
      const taken = new Promise<void>((resolve) => (take = resolve))
      await Promise.race([taken, written])
    },
    async end(): Promise<string> {
      lines.push(null)
      await written
      return digest.end().sha256
    },
  }
}

async function writeWhole(dir: string, name: string, text: string): Promise<void> {
  const file = await open(join(dir, `${name}.part`), 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(join(dir, `${name}.part`), join(dir, name))
  await syncDirectory(dir)
}
