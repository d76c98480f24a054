import { parseUuid } from '../../../base/ids.ts'
import { isObject, type JsonObject, text } from '../../../schema/json.ts'
import { RANK, type StoredFragment } from '../../rows/fragment.ts'
import { parseLooseJson } from '../../json/loose-json.ts'
import { parseTime } from '../../derive/time.ts'
import { ID_SENT } from './ids.ts'
import { isPartHead } from './parts.ts'

/** Fragments stored under the id of a trace in which several spans have no parent (docs/adr/0012). */
export interface RootSpans {
  /** Fragments of the TraceRun with that id. */
  own: StoredFragment[]
  /**
   * Fragments of the other spans without a parent, by span id (16 hex digits); each of these spans is a separate
   * TraceRun.
   */
  others: Map<string, StoredFragment[]>
}

/** A span without a parent, from its fragments so far. */
interface Root {
  span_id: string
  fragments: StoredFragment[]
  received_at: number
  start: number
}

/**
 * Separates the spans that are stored under the id of their trace. The first span that is kept, by start and then by
 * span id, keeps that id. Undefined for a single span. The result is independent of the order and the payloads of the fragments.
 * `readHead` gives the head of a fragment; undefined if it is no object.
 */
export function splitRoots(
  fragments: readonly StoredFragment[],
  readHead: (fragment: StoredFragment) => JsonObject | undefined = headOfSpan,
): RootSpans | undefined {
  if (fragments.length < 2) return undefined
  const heads = fragments.map((fragment) => readHead(fragment) ?? {})
  if (heads.every((head) => head['span_id'] === undefined)) return undefined
  const roots = new Map<string, Root>()
  const parts: { span_id: string | undefined; fragment: StoredFragment }[] = []
  let isIdSent = false
  const own: StoredFragment[] = []
  for (const [i, fragment] of fragments.entries()) {
    const head = heads[i]!
    isIdSent ||= head[ID_SENT] === true
    if (isRootHead(head, fragment.run_id)) addRoot(roots, fragment, head)
    else if (isPartHead(head)) parts.push({ span_id: text(head['span_id']), fragment })
    else own.push(fragment)
  }
  const [first, ...others] = [...roots.values()].sort(inOrder)
  // A span whose TraceRun id was sent keeps that id.
  if (first && isIdSent) others.unshift(first)
  else own.push(...(first?.fragments ?? []))
  if (others.length === 0) return undefined
  const byId = new Map(others.map(({ span_id, fragments: theirs }) => [span_id, theirs]))
  // Log records that arrived while their span was the only root are also stored under the span's own id.
  for (const { span_id, fragment } of parts)
    if (span_id === undefined || !byId.has(span_id)) own.push(fragment)
  return { own, others: byId }
}

/** The fragments that belong to the TraceRun under whose id they are stored. */
export function ownFragments(fragments: readonly StoredFragment[]): readonly StoredFragment[] {
  return splitRoots(fragments)?.own ?? fragments
}

/**
 * Whether the head is that of a span without a parent and without a sent id, which is stored under the id of its trace.
 */
function isRootHead(head: JsonObject, runId: string): boolean {
  return (
    head['span_id'] !== undefined &&
    !isPartHead(head) &&
    head[ID_SENT] !== true &&
    head['parent_run_id'] === undefined &&
    parseUuid(head['trace_id']) === runId
  )
}

function addRoot(roots: Map<string, Root>, fragment: StoredFragment, head: JsonObject): void {
  const span_id = String(head['span_id'])
  const start = parseTime(head['start_time']) ?? 0
  const { received_at } = fragment
  const known = roots.get(span_id)
  if (known === undefined) {
    roots.set(span_id, { span_id, fragments: [fragment], received_at, start })
    return
  }
  known.fragments.push(fragment)
  // The start in the first received fragment counts, so that the order of spans does not change.
  if (received_at > known.received_at || (received_at === known.received_at && start >= known.start)) return
  Object.assign(known, { received_at, start })
}

function inOrder(a: Root, b: Root): number {
  return (
    Number(isFiltered(a)) - Number(isFiltered(b)) || a.start - b.start || (a.span_id < b.span_id ? -1 : 1)
  )
}

function isFiltered({ fragments }: Root): boolean {
  return fragments.every(({ rank }) => rank === RANK.filtered)
}

/** Whether the head may be that of a span or a log record; cheap, and true for all of these. */
export function mayBeSpan({ head }: Pick<StoredFragment, 'head'>): boolean {
  return Buffer.from(head.buffer, head.byteOffset, head.byteLength).includes('"span_id"')
}

function headOfSpan(fragment: StoredFragment): JsonObject | undefined {
  const value = mayBeSpan(fragment) ? parseLooseJson(fragment.head).value : undefined
  return isObject(value) ? value : undefined
}
