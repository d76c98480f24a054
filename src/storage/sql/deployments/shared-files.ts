import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Clock } from '../../../base/clock.ts'
import { AppError } from '../../../base/errors.ts'
import type { SharedFiles } from '../../../deploy/stores/shared-files.ts'
import type { BlobStore } from '../../../ingest/store/blob-store.ts'
import type { Database } from '../driver/database.ts'

/** Bytes of a file that are in memory at a time. */
const PART_BYTES = 8 << 20

interface FileRow {
  path: string
  made_in: string
  parts: string
}

/** Files whose names are in a SQL database that has been migrated, and whose bytes are in a store of blobs. */
export function createSharedFiles(
  database: Database,
  blobs: Pick<BlobStore, 'put' | 'read' | 'remove'>,
  clock: Clock,
): SharedFiles {
  const find = async (deployment_id: string, path: string): Promise<FileRow | undefined> => {
    const sql = 'SELECT path, made_in, parts FROM deployment_files WHERE deployment_id = ? AND path = ?'
    const [row] = await database.query<FileRow>(sql, [deployment_id, path])
    return row
  }
  return {
    has: async (deployment_id, path) => (await find(deployment_id, path)) !== undefined,
    async put(deployment_id, path, file, made_in) {
      if ((await find(deployment_id, path)) !== undefined) return
      const parts: string[] = []
      for await (const bytes of partsOf(file, headerOf(deployment_id, path))) {
        const sha256 = createHash('sha256').update(bytes).digest('hex')
        await blobs.put([{ sha256, bytes }])
        parts.push(sha256)
      }
      await database.query(
        `INSERT INTO deployment_files (deployment_id, path, made_in, parts, created_at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT DO NOTHING`,
        [deployment_id, path, made_in, JSON.stringify(parts), clock.now()],
      )
    },
    async get(deployment_id, path, file) {
      const row = await find(deployment_id, path)
      if (row === undefined) return undefined
      const header = headerOf(deployment_id, path).length
      await pipeline(contentOf(blobs, row, header), createWriteStream(file, { mode: 0o600, flush: true }))
      return { made_in: row.made_in }
    },
    async prune(deployment_id, kept, before) {
      const rows = await database.query<FileRow>(
        'SELECT path, made_in, parts FROM deployment_files WHERE deployment_id = ? AND created_at < ?',
        [deployment_id, before],
      )
      for (const { path, parts } of rows.filter((row) => !kept.has(row.path))) {
        const sql = 'DELETE FROM deployment_files WHERE deployment_id = ? AND path = ?'
        await database.query(sql, [deployment_id, path])
        // Parts that another server has put again since then belong to its file.
        for (const sha256 of JSON.parse(parts) as string[]) await blobs.remove(sha256, before)
      }
    },
  }
}

/** Begins each part, so that none of them has the hash of an attachment or of a part of another deployment. */
function headerOf(deployment_id: string, path: string): Buffer {
  return Buffer.from(`weir deployment ${deployment_id} ${path}\n`)
}

async function* partsOf(file: string, header: Buffer): AsyncGenerator<Buffer> {
  const handle = await open(file)
  try {
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(PART_BYTES), 0, PART_BYTES)
      if (bytesRead === 0) return
      yield Buffer.concat([header, buffer.subarray(0, bytesRead)])
    }
  } finally {
    await handle.close()
  }
}

async function* contentOf(
  blobs: Pick<BlobStore, 'read'>,
  { path, parts }: FileRow,
  header: number,
): AsyncGenerator<Buffer> {
  for (const sha256 of JSON.parse(parts) as string[]) {
    const blob = await blobs.read(sha256)
    if (blob === undefined)
      throw new AppError('deployment_failed', { message: `A part of ${path} is not in the shared store.` })
    let left = header
    for await (const bytes of blob.bytes as AsyncIterable<Buffer>) {
      yield bytes.subarray(Math.min(left, bytes.length))
      left -= Math.min(left, bytes.length)
    }
  }
}
