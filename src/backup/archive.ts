import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { isAbsolute, join, normalize } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { AppError } from '../base/errors.ts'
import { isObject } from '../schema/json.ts'
import type { Manifest } from './stores.ts'

export const LAYOUT = {
  manifest: 'manifest.json',
  files: 'files.jsonl.zst',
  /** Copies of files under their paths in DATA_DIR; attachments are here too, even if they are stored elsewhere. */
  copies: 'files',
  table: ({ store, table }: Pick<Manifest['tables'][number], 'store' | 'table'>): string =>
    join(store, `${table}.zst`),
} as const

/** A line of `files.jsonl.zst`: a copied file, or a symbolic link. */
export type CopiedFile =
  | { path: string; bytes: number; sha256: string; mode: number }
  | { path: string; link: string }

/** The error for a backup that cannot be used, with advice. */
export function unusable(message: string, cause?: unknown): AppError {
  return new AppError('backup_unusable', { message, cause })
}

/** SHA-256 and length of a file. */
export async function digestOf(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256')
  let bytes = 0
  await pipeline(createReadStream(path), async (source: AsyncIterable<Buffer>) => {
    for await (const piece of source) {
      hash.update(piece)
      bytes += piece.length
    }
  })
  return { bytes, sha256: hash.digest('hex') }
}

/** Whether a relative path stays inside its folder. */
function isInside(path: string): boolean {
  const isOdd = path === '' || path.includes('\0') || isAbsolute(path) || normalize(path) !== path
  return !isOdd && path.split('/')[0] !== '..'
}

/** Files of DATA_DIR that backups have; symbolic links are only in folders of deployments. */
const FILES = /^(?:secrets-key|webhook-secret|api-key|(?:ingest-log|blobs|deployments)\/.+)$/
const LINKS = /^deployments\/.+$/

const SHA256 = /^[0-9a-f]{64}$/

/** Whether a backup may have the entry. Others could replace files on which a server relies, such as its databases. */
export function isExpected(entry: unknown): entry is CopiedFile {
  if (!isObject(entry)) return false
  const { path, link, sha256, bytes, mode } = entry
  if (typeof path !== 'string' || !isInside(path)) return false
  if (link !== undefined) return typeof link === 'string' && !link.includes('\0') && LINKS.test(path)
  const isWhole = typeof sha256 === 'string' && SHA256.test(sha256) && Number.isSafeInteger(bytes)
  return isWhole && Number.isSafeInteger(mode) && FILES.test(path)
}
