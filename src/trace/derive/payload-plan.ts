import type { Issue } from '../../schema/issue.ts'
import { type SizedColumn, SIZED_COLUMNS, type StoredFragment, sizeOf } from '../rows/fragment.ts'
import { LONGEST_EMPTY_JSON } from '../json/loose-json.ts'
import { inMergeOrder, mergeFragments } from './merge.ts'
import type { MergedTraceRun } from './merged-trace-run.ts'
import { ownFragments } from '../otel/span/roots.ts'

/** Maximum bytes of payload that are loaded to derive or read one TraceRun. */
export const MAX_PAYLOAD_BYTES = 256 * 1024 * 1024

/** A column that is needed to derive the TraceRun and is not loaded. */
export interface PayloadWant {
  fragment: StoredFragment
  column: SizedColumn
  bytes: number
}

/** The columns that are needed to derive a TraceRun. */
export interface PayloadPlan {
  wants: PayloadWant[]
  /** Bytes of all columns of the plan, loaded or not. */
  bytes: number
  /**
   * Columns that are left out because they are too large; `fragment` is undefined if the column of all fragments is
   * left out.
   */
  omitted: { column: SizedColumn; bytes: number; fragment: StoredFragment | undefined }[]
}

/**
 * Columns that are merged from all fragments; of each other column only one value is used. Merged columns are read
 * again with every update, so each may have at most a quarter of the maximum bytes.
 */
const FOLDED: ReadonlySet<SizedColumn> = new Set(['head', 'attachments', 'extra'])
/** The fields in order of priority; the last field is left out first. */
const PRIORITY: readonly SizedColumn[] = [
  'head',
  'error',
  'attachments',
  'extra',
  'inputs',
  'outputs',
  'events',
  'serialized',
]
const NONE = new Uint8Array(0)

/** Code of the issue on a TraceRun that was derived from its head alone. */
export const NOT_DERIVED = 'not_derived'

/**
 * Plans, from sizes, the payload that `mergeFragments` will read: all values of a merged field; of any other field, the
 * last value that is certainly not empty, and those after it. The plan is independent of loaded payloads and of the
 * order of the fragments. If it needs more than `maxBytes`, or a quarter of that for a merged column, it omits the
 * columns of least priority, and the earliest fragments of a merged column.
 */
export function planPayload(all: readonly StoredFragment[], maxBytes = MAX_PAYLOAD_BYTES): PayloadPlan {
  const plan: PayloadPlan = { wants: [], bytes: 0, omitted: [] }
  if (isAtHand(all, maxBytes)) return plan
  const fragments = ownFragments(all)
  if (isAtHand(fragments, maxBytes)) return plan
  const latestFirst = inMergeOrder(fragments).toReversed()
  for (const column of PRIORITY) {
    const isFolded = FOLDED.has(column)
    const needed = isFolded
      ? latestFirst.filter((fragment) => sizeOf(fragment, column) > 0)
      : deciding(latestFirst, column)
    const most = isFolded ? Math.min(maxBytes, plan.bytes + maxBytes / 4) : maxBytes
    for (const fragment of needed) {
      const bytes = sizeOf(fragment, column)
      if (plan.bytes + bytes > most) {
        plan.omitted.push({ column, bytes, fragment: isFolded ? fragment : undefined })
        continue
      }
      plan.bytes += bytes
      if (fragment.left_out[column] !== undefined) plan.wants.push({ fragment, column, bytes })
    }
  }
  return plan
}

/** Whether no column must be loaded or left out; usually true. */
function isAtHand(fragments: readonly StoredFragment[], maxBytes: number): boolean {
  let bytes = 0
  for (const fragment of fragments) {
    for (const column of SIZED_COLUMNS) {
      if (fragment.left_out[column] !== undefined) return false
      bytes += fragment[column].length
    }
  }
  return bytes <= maxBytes / 4
}

/** The latest value that is too long to be empty, and the values after it. */
function deciding(latestFirst: readonly StoredFragment[], column: SizedColumn): StoredFragment[] {
  const found: StoredFragment[] = []
  for (const fragment of latestFirst) {
    const size = sizeOf(fragment, column)
    if (size > 0) found.push(fragment)
    if (size > LONGEST_EMPTY_JSON) break
  }
  return found
}

/** Merges fragments whose planned payloads have been loaded; adds an issue about omitted columns. */
export function mergePlanned(
  fragments: readonly StoredFragment[],
  maxBytes = MAX_PAYLOAD_BYTES,
): MergedTraceRun {
  const { omitted, wants } = planPayload(fragments, maxBytes)
  if (wants.length > 0) throw new Error('the payload of a TraceRun is not at hand')
  if (omitted.length === 0) return mergeFragments(fragments)
  const kept = fragments.map((fragment) => {
    const without = { ...fragment }
    for (const { column, fragment: only } of omitted)
      if (only === undefined || only === fragment) without[column] = NONE
    return without
  })
  const merged = mergeFragments(kept)
  merged.issues.push(...omissions(omitted))
  return merged
}

function omissions(omitted: PayloadPlan['omitted']): Issue[] {
  return PRIORITY.flatMap((column): Issue[] => {
    const bytes = omitted.reduce((sum, each) => (each.column === column ? sum + each.bytes : sum), 0)
    if (bytes === 0) return []
    return [
      {
        code: 'payload_too_large',
        severity: column === 'inputs' || column === 'outputs' ? 'error' : 'warning',
        path: column === 'head' ? '' : column,
        message: `The run is too large to be shown whole: ${bytes} bytes of ${column} are stored and left out.`,
        fix: 'Send large data as attachments, and each field once.',
      },
    ]
  })
}

/** Merges fragments without their payloads, for a TraceRun that cannot be derived from whole fragments. */
export function mergeHeads(fragments: readonly StoredFragment[]): MergedTraceRun {
  const merged = mergeFragments(
    fragments.map((fragment) => {
      const headOnly = { ...fragment }
      for (const column of SIZED_COLUMNS) if (column !== 'head') headOnly[column] = NONE
      return headOnly
    }),
  )
  merged.issues.push({
    code: 'not_derived',
    severity: 'error',
    path: '',
    message: 'Reading the payload of this run failed: nothing is known from it. It is stored as it was sent.',
  })
  return merged
}
