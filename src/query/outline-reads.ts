import { AppError } from '../base/errors.ts'
import type { OutlineStore, TraceState } from '../ingest/store/outline-store.ts'
import { outlineJson, unchangedOutlineJson } from '../trace/json/outline.ts'
import { RowReader } from '../trace/rows/row-binary.ts'
import { MAX_OUTLINE_RUNS, TRACE_OUTLINE_COLUMNS, TRACE_RUN_ROWS } from '../trace/rows/trace-run-row.ts'

/** The data from which the outline of a trace is made, off the event loop. */
export interface OutlineTask {
  trace_id: string
  version: string
  /** TRACE_OUTLINE_COLUMNS as RowBinary. */
  rows: Uint8Array
  /** Ids as RowBinary; undefined for all. */
  changed: Uint8Array | undefined
}

export interface OutlineOptions {
  /** `version` of an earlier response; the outline contains only later changes. */
  after?: string
  /** Versions of this response that the client already has. */
  known?: readonly string[]
}

/** An outline with its version; without a body if the client has it. */
export interface Outline {
  version: string
  body: Uint8Array | undefined
}

/**
 * A response repeats the changes of this time before `after`, because clocks differ and rows become visible some time
 * after they are written.
 */
const OVERLAP_MS = 10_000
const VERSION = /^(\d{1,15})-(\d{1,15})-(\d{1,20})$/

/** Reads the outline of a trace; undefined for an unknown trace. `run` makes the response in the read lane. */
export async function readOutline(
  store: OutlineStore,
  ids: { workspace_id: string; trace_id: string },
  { after, known = [] }: OutlineOptions,
  run: (task: OutlineTask) => Promise<Uint8Array>,
): Promise<Outline | undefined> {
  const { workspace_id, trace_id } = ids
  const since = after === undefined ? undefined : readVersion(after)
  // Read before the rows, so that rows written in between are in the next response.
  const state = await store.traceState(workspace_id, trace_id)
  if (state.runs === 0) return undefined
  const version = writeVersion(state)
  if (known.includes(version)) return { version, body: undefined }
  if (version === after)
    return { version, body: Buffer.from(unchangedOutlineJson(trace_id, version, state.runs)) }
  const [rows, changed] = await Promise.all([
    store.outlineRows(workspace_id, trace_id, MAX_OUTLINE_RUNS),
    since === undefined
      ? undefined
      : store.changedRuns(workspace_id, trace_id, Math.max(0, since - OVERLAP_MS)),
  ])
  return rows.length === 0 ? undefined : { version, body: await run({ trace_id, version, rows, changed }) }
}

/** Makes the response; runs off the event loop. */
export function assembleOutline({ trace_id, version, rows, changed }: OutlineTask): Uint8Array {
  const found = [...TRACE_RUN_ROWS.read(rows, TRACE_OUTLINE_COLUMNS)]
  return Buffer.from(outlineJson({ trace_id, version, rows: found, changed: changed && idsOf(changed) }))
}

function idsOf(rows: Uint8Array): Set<string> {
  const from = new RowReader(rows)
  const ids = new Set<string>()
  while (!from.done) ids.add(from.uuid())
  return ids
}

function writeVersion({ written_at, runs, versions }: TraceState): string {
  return `${written_at}-${runs}-${versions}`
}

function readVersion(text: string): number {
  const [, written_at] = VERSION.exec(text) ?? []
  if (written_at !== undefined) return Number(written_at)
  throw new AppError('invalid_request', {
    message: 'The version cannot be read: send the one of an earlier outline unchanged.',
  })
}
