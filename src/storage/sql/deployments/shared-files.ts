import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Clock } from '../../../base/clock.ts'
import { AppError } from '../../../base/errors.ts'
import { newUuid, NIL_UUID } from '../../../base/ids.ts'
import type { SharedFiles } from '../../../deploy/stores/shared-files.ts'
import type { BlobStore } from '../../../ingest/store/blob-store.ts'
import type { Blob } from '../../../trace/decode/decoded.ts'
import type { Database } from '../driver/database.ts'

/** Maximum bytes of a file in memory. */
const PART_BYTES = 8 << 20

/**
 * Path prefix of an unused row: its parts are being stored, or must be removed. A UUID and the path of the file follow.
 * Before a part is stored, a row with its hash is inserted. The row stays until the part is removed, so that `sweep`
 * finds every part.
 */
const UNUSED = 'unused/'
const UNUSED_LENGTH = `${UNUSED}${NIL_UUID}/`.length
/** Maximum number of rows that one sweep removes. */
const SWEPT = 1000

interface FileRow {
  deployment_id: string
  path: string
  made_in: string
  parts: string
  created_at: number
}

const FILE = 'deployment_id, path, made_in, parts, created_at'
const AT = 'deployment_id = ? AND path = ?'

/** Thrown if the store of blobs lacks a part of a stored file. */
class MissingPart extends Error {}

/** Files whose names are in a SQL database that has been migrated, and whose bytes are in a store of blobs. */
export function createSharedFiles(
  database: Database,
  blobs: Pick<BlobStore, 'put' | 'read' | 'remove'>,
  clock: Clock,
): SharedFiles {
  const rows = createFileRows(database)
  const removeAll = createRemoval(rows, blobs)
  return {
    has: async (deployment_id, path) => (await rows.find(deployment_id, path)) !== undefined,
    async put(deployment_id, path, file, made_in) {
      if ((await rows.find(deployment_id, path)) !== undefined) return
      const header = headerOf(deployment_id, path)
      const parts: string[] = []
      for await (const { sha256 } of partsOf(file, header)) parts.push(sha256)
      const row = { deployment_id, path, made_in, parts: JSON.stringify(parts), created_at: clock.now() }
      const storing = unusedOf(row)
      await rows.insert(storing)
      for await (const part of partsOf(file, header)) await blobs.put([part])
      // If another server has stored the file meanwhile, in other parts, these parts are not needed, and `sweep`
      // removes them.
      if (await rows.insert({ ...row, created_at: clock.now() })) await rows.drop(storing)
    },
    async get(deployment_id, path, file, max_bytes = Number.MAX_SAFE_INTEGER) {
      const row = await rows.find(deployment_id, path)
      if (row === undefined) return undefined
      const header = headerOf(deployment_id, path).length
      const content = contentOf(blobs, row, { header, max_bytes })
      try {
        await pipeline(content, createWriteStream(file, { mode: 0o600, flush: true }))
      } catch (error) {
        if (!(error instanceof MissingPart)) throw error
        // A server may store the file again. So its remaining parts are swept as late as the parts of a new file.
        await rows.setAside(row, clock.now())
        await rm(file, { force: true })
        return undefined
      }
      return { made_in: row.made_in }
    },
    async prune(deployment_id, kept, before) {
      const found = await rows.storedBefore('deployment_id = ?', [before, deployment_id])
      await removeAll(
        found.filter(({ path }) => !path.startsWith(UNUSED) && !kept.has(path)),
        before,
      )
    },
    async sweep(before) {
      const where = 'path LIKE ? OR deployment_id NOT IN (SELECT id FROM deployments)'
      await removeAll(await rows.storedBefore(where, [before, `${UNUSED}%`], SWEPT), before)
    },
  }
}

/** Returns a function that removes the files of rows. Parts that were put again after `until` stay. */
function createRemoval(rows: ReturnType<typeof createFileRows>, blobs: Pick<BlobStore, 'remove'>) {
  /**
   * Removes the parts of an unused row that no file needs. Removes the row too, unless a part stays. A part stays if it
   * was put after `until`.
   */
  const remove = async (row: FileRow, until: number): Promise<void> => {
    let isLeft = false
    for (const sha256 of JSON.parse(row.parts) as string[]) {
      const again = await rows.find(row.deployment_id, row.path.slice(UNUSED_LENGTH))
      const isUsed = again !== undefined && (JSON.parse(again.parts) as string[]).includes(sha256)
      if (!isUsed && !(await blobs.remove(sha256, until))) isLeft = true
    }
    if (!isLeft) await rows.drop(row)
  }
  return async (found: readonly FileRow[], until: number): Promise<void> => {
    for (const row of found) {
      const unused = row.path.startsWith(UNUSED) ? row : await rows.setAside(row)
      if (unused !== undefined) await remove(unused, until)
    }
  }
}

function unusedOf(row: FileRow): FileRow {
  return { ...row, path: `${UNUSED}${newUuid()}/${row.path}` }
}

/** The rows of `deployment_files`. */
function createFileRows(database: Database) {
  const insert = async ({ deployment_id, path, made_in, parts, created_at }: FileRow): Promise<boolean> => {
    const sql = `INSERT INTO deployment_files (${FILE}) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING path`
    return (await database.query(sql, [deployment_id, path, made_in, parts, created_at])).length > 0
  }
  return {
    /** Inserts a row; returns false if its path is taken. */
    insert,
    async find(deployment_id: string, path: string): Promise<FileRow | undefined> {
      const sql = `SELECT ${FILE} FROM deployment_files WHERE ${AT}`
      const [row] = await database.query<FileRow>(sql, [deployment_id, path])
      return row
    },
    /** Rows that were stored before a time, which is the first of `params`. */
    storedBefore(where: string, params: (string | number)[], limit = Number.MAX_SAFE_INTEGER) {
      const sql = `SELECT ${FILE} FROM deployment_files WHERE created_at < ? AND (${where})
        ORDER BY created_at, deployment_id, path LIMIT ?`
      return database.query<FileRow>(sql, [...params, limit])
    },
    async drop({ deployment_id, path }: FileRow): Promise<void> {
      await database.query(`DELETE FROM deployment_files WHERE ${AT}`, [deployment_id, path])
    },
    /**
     * Changes the row to an unused row with `created_at` = `at`. Returns undefined if the row has changed since it was
     * read.
     */
    async setAside(row: FileRow, at = row.created_at): Promise<FileRow | undefined> {
      const unused = { ...unusedOf(row), created_at: at }
      const { deployment_id, path, parts, created_at } = row
      const sql = `UPDATE deployment_files SET path = ?, created_at = ?
        WHERE ${AT} AND parts = ? AND created_at = ? RETURNING path`
      const changed = await database.query(sql, [unused.path, at, deployment_id, path, parts, created_at])
      return changed.length > 0 ? unused : undefined
    },
  }
}

/**
 * The first bytes of each part. With them, its hash differs from the hashes of attachments and of parts of other
 * deployments.
 */
function headerOf(deployment_id: string, path: string): Buffer {
  return Buffer.from(`weir deployment ${deployment_id} ${path}\n`)
}

async function* partsOf(file: string, header: Buffer): AsyncGenerator<Blob> {
  const handle = await open(file)
  try {
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(PART_BYTES), 0, PART_BYTES)
      if (bytesRead === 0) return
      const bytes = Buffer.concat([header, buffer.subarray(0, bytesRead)])
      yield { sha256: createHash('sha256').update(bytes).digest('hex'), bytes }
    }
  } finally {
    await handle.close()
  }
}

async function* contentOf(
  blobs: Pick<BlobStore, 'read'>,
  { path, parts }: FileRow,
  { header, max_bytes }: { header: number; max_bytes: number },
): AsyncGenerator<Buffer> {
  let rest = max_bytes
  for (const sha256 of JSON.parse(parts) as string[]) {
    const blob = await blobs.read(sha256)
    if (blob === undefined) throw new MissingPart(`A part of ${path} is not in the shared store.`)
    let left = header
    for await (const bytes of blob.bytes as AsyncIterable<Buffer>) {
      const part = bytes.subarray(Math.min(left, bytes.length))
      left -= bytes.length - part.length
      rest -= part.length
      if (rest < 0)
        throw new AppError('deployment_failed', { message: `${path} has more than ${max_bytes} bytes.` })
      yield part
    }
  }
}
