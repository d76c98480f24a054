import { NIL_UUID, parseUuid } from '../base/ids.ts'
import type { Issue } from '../schema/issue.ts'
import { type JsonObject, type JsonValue, isObject } from '../schema/json.ts'
import { BIG_FIELDS, type BigField, RANK, type StoredFragment } from './fragment.ts'
import { parseLooseJson } from './loose-json.ts'

/** An attachment as a TraceRun knows it; the bytes are in the blob store under `sha256`. */
export interface Attachment {
  mime_type: string
  size: number
  sha256: string
}

/** All fragments of one TraceRun folded into one record; independent of the order in which they came. */
export interface MergedTraceRun {
  workspace_id: string
  id: string
  /** NIL_UUID while no fragment names a project. */
  project_id: string
  user_id: string
  api_key_id: string
  /** Receive time of the earliest fragment, epoch milliseconds. */
  received_at: number
  /** Distinct fragments: rises with everything learnt, so it is the version of what is derived. */
  fragments: number
  /** True once a create has come, or an update that carries all that a create does. */
  created: boolean
  /** The main fields, later fragments over earlier ones. */
  head: JsonObject
  /** Big fields as sent; absent when no fragment has them. */
  raw: Partial<Record<BigField, Uint8Array>>
  extra: JsonObject
  attachments: Record<string, Attachment>
  /** What each fragment alone says of project and start: any of them may have been the sort key of an earlier row. */
  keys: { project_id: string; start_time: JsonValue | undefined; received_at: number }[]
  issues: Issue[]
}

/**
 * Folds the fragments of one TraceRun (at least one, duplicates allowed): create < update < update with an end, then
 * content hash; a later value overrides unless it is null or empty (contract §1.3, D-11).
 */
export function mergeFragments(all: readonly StoredFragment[]): MergedTraceRun {
  const fragments = inMergeOrder(all)
  const first = fragments[0]!
  const merged: MergedTraceRun = {
    workspace_id: first.workspace_id,
    id: first.run_id,
    project_id: NIL_UUID,
    user_id: NIL_UUID,
    api_key_id: NIL_UUID,
    received_at: Math.min(...all.map((fragment) => fragment.received_at)),
    fragments: fragments.length,
    created: false,
    head: {},
    raw: {},
    extra: {},
    attachments: {},
    keys: [],
    issues: [],
  }
  for (const fragment of fragments) addFragment(merged, fragment)
  merged.created ||= typeof merged.head['name'] === 'string' && merged.head['start_time'] !== undefined
  return merged
}

/** Distinct fragments in merge order; of equal ones the earliest received is kept. */
function inMergeOrder(all: readonly StoredFragment[]): readonly StoredFragment[] {
  if (all.length === 1) return all
  const distinct = new Map<string, StoredFragment>()
  for (const fragment of all) {
    const key = fragment.rank + fragment.hash
    const known = distinct.get(key)
    if (!known || fragment.received_at < known.received_at) distinct.set(key, fragment)
  }
  return [...distinct.values()].sort((a, b) => a.rank - b.rank || (a.hash < b.hash ? -1 : 1))
}

function addFragment(merged: MergedTraceRun, fragment: StoredFragment): void {
  if (fragment.rank === RANK.create) merged.created = true
  if (fragment.project_id !== NIL_UUID) merged.project_id = fragment.project_id
  if (merged.api_key_id === NIL_UUID) {
    merged.api_key_id = fragment.api_key_id
    merged.user_id = fragment.user_id
  }
  const head = fragment.head.length > 2 ? mergeHead(merged, fragment.head) : undefined
  merged.keys.push({
    project_id: fragment.project_id,
    start_time: head?.['start_time'],
    received_at: fragment.received_at,
  })
  for (const field of BIG_FIELDS) {
    const bytes = fragment[field]
    if (bytes.length === 0) continue
    if (field === 'extra') mergeExtra(merged, bytes)
    else if (merged.raw[field] === undefined || !isEmptyJson(bytes)) merged.raw[field] = bytes
  }
  if (fragment.attachments.length > 0) mergeAttachments(merged, fragment.attachments)
}

function mergeHead(merged: MergedTraceRun, bytes: Uint8Array): JsonObject | undefined {
  const head = parseLooseJson(bytes).value
  if (!isObject(head)) return undefined
  for (const key of Object.keys(head)) {
    const value = head[key]
    if (value === null || value === undefined || key === '__proto__') continue
    if (Array.isArray(value) && value.length === 0 && merged.head[key] !== undefined) continue
    merged.head[key] = value
  }
  return head
}

/** `extra` is merged key by key, its metadata too: both SDKs send all of it again, REST users only what changed. */
function mergeExtra(merged: MergedTraceRun, bytes: Uint8Array): void {
  const { value } = parseLooseJson(bytes)
  if (!isObject(value)) {
    if (value !== null)
      merged.issues.push({
        code: 'invalid_extra',
        severity: 'warning',
        path: 'extra',
        message: 'extra is not a JSON object and was ignored.',
        fix: 'Send extra as an object with a metadata object inside.',
      })
    return
  }
  for (const key of Object.keys(value)) {
    if (key === '__proto__') continue
    const before = merged.extra[key]
    const now = value[key]
    merged.extra[key] =
      key === 'metadata' && isObject(before) && isObject(now) ? { ...before, ...now } : (now as JsonValue)
  }
}

function mergeAttachments(merged: MergedTraceRun, bytes: Uint8Array): void {
  const { value } = parseLooseJson(bytes)
  if (!isObject(value)) return
  for (const [name, entry] of Object.entries(value)) {
    if (isObject(entry) && name !== '__proto__') merged.attachments[name] = entry as unknown as Attachment
  }
}

/** `{}`, `[]`, `null`, `""` with or without white space: a value that must not hide a filled one. */
export function isEmptyJson(bytes: Uint8Array): boolean {
  if (bytes.length > 16) return false
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString('latin1')
    .replace(/\s+/g, '')
  return text === '' || text === '{}' || text === '[]' || text === 'null' || text === '""'
}

/** The metadata object of a merged TraceRun, never undefined. */
export function metadataOf(merged: MergedTraceRun): JsonObject {
  const metadata = merged.extra['metadata']
  return isObject(metadata) ? metadata : {}
}

/** A uuid field of the head in canonical spelling. */
export function headUuid(merged: MergedTraceRun, field: string): string | undefined {
  return parseUuid(merged.head[field])
}
