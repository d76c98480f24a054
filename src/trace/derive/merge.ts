import { NIL_UUID, parseUuid } from '../../base/ids.ts'
import type { Issue } from '../../schema/issue.ts'
import { type JsonObject, type JsonValue, isObject } from '../../schema/json.ts'
import { BIG_FIELDS, RANK, type StoredFragment } from '../rows/fragment.ts'
import { isEmptyJson, parseLooseJson } from '../json/loose-json.ts'
import { mayBeSpan, splitRoots } from '../otel/span/roots.ts'
import { laterSpan, SPAN_KEY } from '../otel/span/span.ts'
import { isPartHead } from '../otel/span/parts.ts'
import type { MergedTraceRun } from './merged-trace-run.ts'
import { readStoredSpan } from '../otel/wire/stored-span.ts'

/**
 * Merges the fragments of one TraceRun (at least one, duplicates allowed) in the order create < update < update with an
 * end, then content hash; a later value overrides unless it is null or empty (D-11).
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
    filtered: false,
    head: {},
    raw: {},
    extra: {},
    attachments: {},
    keys: [],
    issues: [],
  }
  const heads = new Map<StoredFragment, JsonObject | undefined>()
  for (const fragment of fragments) heads.set(fragment, headOf(fragment))
  const roots = splitRoots(fragments, (fragment) => heads.get(fragment))
  const own = roots?.own ?? fragments
  let lastExtra: Uint8Array | undefined
  for (const fragment of own) {
    addFragment(merged, fragment, heads.get(fragment))
    // Both SDKs send all of `extra` again with the end of a run, mostly unchanged.
    if (fragment.extra.length === 0 || (lastExtra && isSameBytes(lastExtra, fragment.extra))) continue
    mergeExtra(merged, fragment.extra)
    lastExtra = fragment.extra
  }
  merged.filtered = merged.keys.length > 0 && merged.keys.every(({ rank }) => rank === RANK.filtered)
  if (own.length > 1) merged.project_id = firstProject(merged.keys) ?? merged.project_id
  // The receive time is that of the TraceRun's own fragments, without those of its parts.
  if (merged.keys.length > 0) merged.received_at = Math.min(...merged.keys.map((key) => key.received_at))
  // Another root may have had this id until the first root arrived. Usage has then counted the fragment of that root
  // under this id.
  if (roots !== undefined)
    for (const theirs of roots.others.values())
      for (const fragment of theirs) addFacts(merged, fragment, heads.get(fragment))
  merged.created ||= typeof merged.head['name'] === 'string' && merged.head['start_time'] !== undefined
  if (isOtherRoot(merged)) merged.issues.push(severalRoots())
  return merged
}

/**
 * Whether this is a span without a parent that is not the first of its trace; its head contains the id of the trace.
 */
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

/** Distinct fragments in merge order; of equal fragments the one received first is kept. */
export function inMergeOrder(all: readonly StoredFragment[]): readonly StoredFragment[] {
  if (all.length === 1) return all
  if (all.length === 2 && all[0]!.rank !== all[1]!.rank)
    return all[0]!.rank < all[1]!.rank ? all : [all[1]!, all[0]!]
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
 * The receive time of a span's fragment: a span is sent only once, so of two spans with the same ids the one received
 * last counts. 0 for LangSmith's updates, which complement each other in any order.
 */
function spanSentAt(fragment: StoredFragment): number {
  return mayBeSpan(fragment) ? fragment.received_at : 0
}

/**
 * The project of a span that was sent to several projects, for example by a collector with two exporters: the one with
 * the smallest id, which was created first. So all spans of a trace are in the same project in any order of arrival.
 * Undefined for fewer than two spans.
 */
function firstProject(keys: MergedTraceRun['keys']): string | undefined {
  const spans = keys.flatMap(({ project_id, head }) =>
    head?.['span_id'] === undefined ? [] : [{ project_id, head }],
  )
  const last = spans.at(-1)
  if (last === undefined || spans.length < 2) return undefined
  const newest = withoutProject(last.head)
  const same = spans.filter(
    ({ head, project_id }) => project_id !== NIL_UUID && withoutProject(head) === newest,
  )
  return same.map(({ project_id }) => project_id).toSorted()[0]
}

function withoutProject({ session_name: _project, ...head }: JsonObject): string {
  return JSON.stringify(head)
}

function addFragment(merged: MergedTraceRun, fragment: StoredFragment, head: JsonObject | undefined): void {
  if (fragment.rank === RANK.create) merged.created = true
  if (fragment.project_id !== NIL_UUID) merged.project_id = fragment.project_id
  if (merged.api_key_id === NIL_UUID) {
    merged.api_key_id = fragment.api_key_id
    merged.user_id = fragment.user_id
  }
  if (head !== undefined) mergeHead(merged, head)
  if (head === undefined || !isPartHead(head)) addFacts(merged, fragment, head)
  for (const field of BIG_FIELDS) {
    const bytes = fragment[field]
    if (bytes.length === 0 || field === 'extra') continue
    if (merged.raw[field] === undefined || !isEmptyJson(bytes)) merged.raw[field] = bytes
  }
  if (fragment.attachments.length > 0) mergeAttachments(merged, fragment.attachments)
}

function addFacts(merged: MergedTraceRun, fragment: StoredFragment, head: JsonObject | undefined): void {
  const { rank, received_at, project_id, user_id, api_key_id } = fragment
  const start_time = head?.['start_time']
  merged.keys.push({ rank, received_at, project_id, user_id, api_key_id, start_time, head })
}

function isSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && Buffer.compare(a, b) === 0
}

function headOf({ head }: StoredFragment): JsonObject | undefined {
  const value = head.length > 2 ? parseLooseJson(head).value : undefined
  return isObject(value) ? value : undefined
}

function mergeHead(merged: MergedTraceRun, head: JsonObject): void {
  for (const key of Object.keys(head)) {
    const value = head[key]
    if (value === null || value === undefined || key === '__proto__') continue
    if (merged.head[key] !== undefined && isEmpty(value)) continue
    merged.head[key] = value
  }
}

/** Whether a value says nothing, so that it overrides no other one. */
function isEmpty(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

/**
 * Merges `extra` and its metadata key by key: both SDKs send all of `extra` again, but REST clients send only changes.
 */
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
    if (before !== undefined && isEmpty(now)) continue
    if (!isObject(before)) merged.extra[key] = now as JsonValue
    else if (key === 'metadata') merged.extra[key] = mergeMetadata(before, now)
    else if (key === SPAN_KEY && isObject(now)) addSpan(merged, before, now)
    else merged.extra[key] = now as JsonValue
  }
}

function mergeMetadata(before: JsonObject, now: JsonValue | undefined): JsonObject {
  if (!isObject(now)) return before
  const said = Object.entries(now).filter(([name, value]) => !isEmpty(value) || isEmpty(before[name]))
  return { ...before, ...Object.fromEntries(said) }
}

/** Adds a span. The last of several spans with the same id counts; the others are kept, with an issue. */
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
  // Object.fromEntries is used because assigning to `__proto__` would lose the entry.
  merged.attachments = Object.fromEntries([...Object.entries(merged.attachments), ...later])
}

/** The metadata object of a merged TraceRun, never undefined. */
export function metadataOf(merged: MergedTraceRun): JsonObject {
  const metadata = merged.extra['metadata']
  return isObject(metadata) ? metadata : {}
}

/**
 * The metadata in which usage_metadata is looked for. A client that sends it on the run itself, or directly in extra,
 * means the same.
 */
export function usageMetadataOf(merged: MergedTraceRun): JsonObject {
  const metadata = metadataOf(merged)
  const beside = merged.head['usage_metadata'] ?? merged.extra['usage_metadata']
  const isSent = metadata['usage_metadata'] !== undefined && metadata['usage_metadata'] !== null
  return beside === undefined || isSent ? metadata : { ...metadata, usage_metadata: beside }
}

/** A uuid field of the head in canonical spelling. */
export function headUuid(merged: MergedTraceRun, field: string): string | undefined {
  return parseUuid(merged.head[field])
}
