import { NIL_UUID, parseUuid } from '../base/ids.ts'
import type { Issue } from '../schema/issue.ts'
import { type JsonObject, type JsonValue, isObject } from '../schema/json.ts'
import { BIG_FIELDS, type BigField, RANK, type StoredFragment } from './fragment.ts'
import { isEmptyJson, parseLooseJson } from './loose-json.ts'
import { laterSpan } from './otel/later-span.ts'
import { splitRoots } from './otel/root-spans.ts'
import { SPAN_KEY } from './otel/span.ts'
import { isPartHead } from './otel/span-parts.ts'
import { readStoredSpan } from './otel/stored-span.ts'

/** An attachment as a TraceRun knows it; the bytes are in the blob store under `sha256`. */
export interface Attachment {
  mime_type: string
  size: number
  sha256: string
}

/** What one fragment says by itself, without its big fields. */
export interface FragmentFacts
  extends Pick<StoredFragment, 'rank' | 'received_at' | 'project_id' | 'user_id' | 'api_key_id'> {
  start_time: JsonValue | undefined
  head: JsonObject | undefined
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
  /** What each fragment alone says: any of them may have been the sort key of an earlier row, and counts for usage. */
  keys: FragmentFacts[]
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
    received_at: all.reduce((least, fragment) => Math.min(least, fragment.received_at), first.received_at),
    fragments: fragments.length,
    created: false,
    head: {},
    raw: {},
    extra: {},
    attachments: {},
    keys: [],
    issues: [],
  }
  const roots = splitRoots(fragments)
  for (const fragment of roots?.own ?? fragments) addFragment(merged, fragment)
  // When it was received says its own fragments, not parts that belong to it.
  if (merged.keys.length > 0) merged.received_at = Math.min(...merged.keys.map((key) => key.received_at))
  // Another root may have had this id before the first one came, and counts for usage with it.
  for (const fragment of [...(roots?.others.values() ?? [])].flat())
    addFacts(merged, fragment, headOf(fragment))
  merged.created ||= typeof merged.head['name'] === 'string' && merged.head['start_time'] !== undefined
  if (isOtherRoot(merged)) merged.issues.push(severalRoots())
  return merged
}

/** A span without a parent that is not the first one of its trace is kept with the id of the trace in its head. */
function isOtherRoot({ id, head, created }: MergedTraceRun): boolean {
  return created && head['span_id'] !== undefined && head['id'] !== undefined && parseUuid(head['id']) !== id
}

function severalRoots(): Issue {
  return {
    code: 'several_roots',
    severity: 'warning',
    path: 'parent_run_id',
    message:
      'An earlier span of this trace has no parent either: that one has the id of the trace, this one an id of its own.',
    fix: 'Start one root span per trace.',
  }
}

/** Distinct fragments in merge order; of equal ones the earliest received is kept. */
export function inMergeOrder(all: readonly StoredFragment[]): readonly StoredFragment[] {
  if (all.length === 1) return all
  const distinct = new Map<string, StoredFragment>()
  for (const fragment of all) {
    const key = fragment.rank + fragment.hash
    const known = distinct.get(key)
    if (!known || fragment.received_at < known.received_at) distinct.set(key, fragment)
  }
  if (distinct.size === 1) return [...distinct.values()]
  const placed = [...distinct.values()].map((fragment) => ({ fragment, sent: spanSentAt(fragment) }))
  placed.sort(
    (a, b) =>
      a.fragment.rank - b.fragment.rank || a.sent - b.sent || (a.fragment.hash < b.fragment.hash ? -1 : 1),
  )
  return placed.map(({ fragment }) => fragment)
}

/**
 * A span is sent once. Where another is sent under its ids all the same, the two contradict each other, and the one
 * received last is right; updates of the native wire complete each other, and do not go by the time. 0 for those.
 */
function spanSentAt({ head, received_at }: StoredFragment): number {
  return Buffer.from(head.buffer, head.byteOffset, head.byteLength).includes('"span_id"') ? received_at : 0
}

function addFragment(merged: MergedTraceRun, fragment: StoredFragment): void {
  if (fragment.rank === RANK.create) merged.created = true
  if (fragment.project_id !== NIL_UUID) merged.project_id = fragment.project_id
  if (merged.api_key_id === NIL_UUID) {
    merged.api_key_id = fragment.api_key_id
    merged.user_id = fragment.user_id
  }
  const head = headOf(fragment)
  if (head !== undefined) mergeHead(merged, head)
  if (head === undefined || !isPartHead(head)) addFacts(merged, fragment, head)
  for (const field of BIG_FIELDS) {
    const bytes = fragment[field]
    if (bytes.length === 0) continue
    if (field === 'extra') mergeExtra(merged, bytes)
    else if (merged.raw[field] === undefined || !isEmptyJson(bytes)) merged.raw[field] = bytes
  }
  if (fragment.attachments.length > 0) mergeAttachments(merged, fragment.attachments)
}

function addFacts(merged: MergedTraceRun, fragment: StoredFragment, head: JsonObject | undefined): void {
  const { rank, received_at, project_id, user_id, api_key_id } = fragment
  const start_time = head?.['start_time']
  merged.keys.push({ rank, received_at, project_id, user_id, api_key_id, start_time, head })
}

function headOf({ head }: StoredFragment): JsonObject | undefined {
  const value = head.length > 2 ? parseLooseJson(head).value : undefined
  return isObject(value) ? value : undefined
}

function mergeHead(merged: MergedTraceRun, head: JsonObject): void {
  for (const key of Object.keys(head)) {
    const value = head[key]
    if (value === null || value === undefined || key === '__proto__') continue
    if (Array.isArray(value) && value.length === 0 && merged.head[key] !== undefined) continue
    merged.head[key] = value
  }
}

/** `extra` is merged key by key, its metadata too: both SDKs send all of it again, REST users only what changed. */
function mergeExtra(merged: MergedTraceRun, bytes: Uint8Array): void {
  const span = readStoredSpan(bytes)
  const value = span === undefined ? parseLooseJson(bytes).value : { [SPAN_KEY]: span }
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
    if (!isObject(before) || !isObject(now)) merged.extra[key] = now as JsonValue
    else if (key === SPAN_KEY) addSpan(merged, before, now)
    else merged.extra[key] = key === 'metadata' ? { ...before, ...now } : now
  }
}

/** Of several spans that were sent with the same id the last one counts; the others are kept, and it is said. */
function addSpan(merged: MergedTraceRun, before: JsonObject, now: JsonObject): void {
  if (before['span_id'] === now['span_id']) {
    merged.extra[SPAN_KEY] = laterSpan(before, now)
    return
  }
  merged.extra[SPAN_KEY] = now
  merged.extra[`${SPAN_KEY}:${String(before['span_id'])}`] = before
  merged.issues.push({
    code: 'several_spans',
    severity: 'warning',
    path: 'extra',
    message: 'Several spans were sent with this id; the others are kept under extra, by their span ids.',
    fix: 'Give every span a langsmith.span.id of its own, or none.',
  })
}

function mergeAttachments(merged: MergedTraceRun, bytes: Uint8Array): void {
  const { value } = parseLooseJson(bytes)
  if (!isObject(value)) return
  const later = Object.entries(value).filter(([, entry]) => isObject(entry))
  // Not by assignment: one to `__proto__` would be lost.
  merged.attachments = Object.fromEntries([...Object.entries(merged.attachments), ...later])
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
