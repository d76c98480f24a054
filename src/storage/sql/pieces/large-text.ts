import { cutBytes, HASH_CHARS } from './cut-bytes.ts'

export interface TextOwner {
  thread_id: string
  deployment_id: string
  workspace_id: string
}

/** SQL condition on the pieces of a thread. `ownerValues` returns the parameters. */
export const OF_OWNER = 'of_thread = ? AND of_deployment = ? AND of_workspace = ?'

export function ownerValues({ thread_id, deployment_id, workspace_id }: TextOwner): string[] {
  return [thread_id, deployment_id, workspace_id]
}

/**
 * A parameter of a statement in a transaction: a text that is stored in pieces. The database stores the pieces that the
 * thread does not have yet, and puts the list of all pieces in the place of the parameter.
 */
export interface LargeText {
  text: string
  owner: TextOwner
  /** True for bytes in base64. Their pieces are cut from the bytes, and each is in base64. */
  isBase64: boolean
}

/** Texts from this number of characters on are stored in pieces. */
export const PIECED_CHARS = 64 << 10
/** The first character of a list of pieces. Neither JSON nor base64 begins with it. */
const MARK = '@'
const SIZE_DIGITS = 12
const HEAD_CHARS = MARK.length + SIZE_DIGITS
/** A longer text in a column is no list of pieces: it is of an earlier release. */
const MAX_LIST_BYTES = 1 << 20

/** The parameter for a text of a thread: the text itself if it is small. */
export function textParam<Text extends string | null>(
  text: Text,
  owner: TextOwner,
  isBase64 = false,
): Text | LargeText {
  if (text === null || (text.length < PIECED_CHARS && !text.startsWith(MARK))) return text
  const { thread_id, deployment_id, workspace_id } = owner
  return { text, owner: { thread_id, deployment_id, workspace_id }, isBase64 }
}

/** A text in pieces: the list that is stored in its place, and its pieces. */
export interface CutText {
  list: string
  pieces: { hash: string; piece(): string }[]
}

/** Cuts a text; see `LargeText`. */
export function cutIntoPieces({ text, isBase64 }: Pick<LargeText, 'text' | 'isBase64'>): CutText {
  const decoded = isBase64 ? Buffer.from(text, 'base64') : undefined
  // Base64 that is not written in the usual way is cut like any other text, so that it stays as it is.
  const isUsual = decoded !== undefined && decoded.toString('base64') === text
  const encoding = isUsual ? 'base64' : 'utf8'
  const bytes = isUsual ? decoded : Buffer.from(text)
  const cut = cutBytes(bytes, !isUsual)
  const size = isUsual
    ? cut.reduce((sum, piece) => sum + 4 * Math.ceil(piece.bytes.length / 3), 0)
    : bytes.length
  const pieces = cut.map(({ hash, bytes: part }) => ({
    hash,
    piece: () => Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString(encoding),
  }))
  const list = MARK + String(size).padStart(SIZE_DIGITS, '0') + cut.map(({ hash }) => hash).join('')
  return { list, pieces }
}

export function hashesOf(list: string): string[] {
  const hashes: string[] = []
  for (let at = HEAD_CHARS; at < list.length; at += HASH_CHARS) hashes.push(list.slice(at, at + HASH_CHARS))
  return hashes
}

/** SQL of whether the text in `column` is a list of pieces. */
export function isList(column: string): string {
  return `octet_length(${column}) <= ${MAX_LIST_BYTES} AND substr(${column}, 1, 1) = '${MARK}'`
}

/**
 * SQL of the whole text in `column`. `row` is the name of its table in the statement with a dot, or empty if only one
 * table has a `thread_id`.
 */
export function wholeText(column: string, row = ''): string {
  const hash = `substr(${column}, ${HEAD_CHARS + 1} + n * ${HASH_CHARS}, ${HASH_CHARS})`
  // A subquery for each piece: with a join, Postgres reads all pieces of the thread.
  const piece = `SELECT piece FROM value_pieces WHERE of_thread = ${row}thread_id AND hash = ${hash}
    AND of_deployment = ${row}deployment_id AND of_workspace = ${row}workspace_id`
  return `CASE WHEN ${isList(column)} THEN (
    WITH RECURSIVE place(n) AS (SELECT 0 UNION ALL
      SELECT n + 1 FROM place WHERE (n + 2) * ${HASH_CHARS} <= length(${column}) - ${HEAD_CHARS})
    SELECT string_agg((${piece}), '' ORDER BY n) FROM place) ELSE ${column} END`
}

/** SQL of the bytes of the whole text in `column`; null for null. */
export function textBytes(column: string): string {
  return `CASE WHEN ${isList(column)} THEN CAST(substr(${column}, 2, ${SIZE_DIGITS}) AS BIGINT)
    ELSE octet_length(${column}) END`
}
