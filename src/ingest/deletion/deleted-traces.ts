import type { Logger } from '../../base/log.ts'
import { AppError } from '../../base/errors.ts'
import type { Decoded, Rejected } from '../../trace/decode/decoded.ts'
import { blobsOf, concernedTrace } from '../../trace/decode/named-trace.ts'
import { FEEDBACK_ROWS, type FeedbackRow } from '../../trace/rows/feedback.ts'
import { RowWriter } from '../../trace/rows/row-binary.ts'
import { readFragments } from '../../trace/rows/fragment.ts'
import { isObject } from '../../schema/json.ts'
import type { DeletedIds } from './deletion-store.ts'

const GONE = new AppError('trace_deleted')

/**
 * Rejects operations on TraceRuns and traces that were deleted recently: clients repeat a request that got no response,
 * and the repeat must not restore a trace. If the deleted ids cannot be read, all operations are accepted, so that no
 * data is lost.
 */
export async function rejectDeleted(
  deleted: DeletedIds,
  workspace_id: string,
  decoded: Decoded,
  logger: Logger,
): Promise<void> {
  if (decoded.count + decoded.feedback_count === 0) return
  try {
    const any = deleted.any(workspace_id)
    if (any === false || !(await any)) return
    await reject(deleted, workspace_id, decoded)
  } catch (error) {
    logger.warn({ err: error }, 'deleted traces cannot be read, so the request is accepted')
  }
}

interface Operation {
  run_id: string
  trace_id: string | undefined
  row: Uint8Array
}

function operationsOf(rows: Uint8Array): Operation[] {
  return [...readFragments(rows)].map(({ run_id, head, row }) => {
    const fields: unknown = head.length === 0 ? {} : JSON.parse(Buffer.from(head).toString())
    return { run_id, trace_id: isObject(fields) ? concernedTrace(fields) : undefined, row }
  })
}

async function reject(deleted: DeletedIds, workspace_id: string, decoded: Decoded): Promise<void> {
  const operations = operationsOf(decoded.rows)
  const feedback = [...FEEDBACK_ROWS.readAll(decoded.feedback_rows)]
  const named = operations.flatMap(({ run_id, trace_id }) => [run_id, ...(trace_id ? [trace_id] : [])])
  named.push(...feedback.map(({ run_id }) => run_id))
  const gone = await deleted.among(workspace_id, [...new Set(named)])
  if (gone.size === 0) return
  const isGone = ({ run_id, trace_id }: Pick<Operation, 'run_id' | 'trace_id'>): boolean =>
    gone.has(run_id) || (trace_id !== undefined && gone.has(trace_id))
  keepOperations(
    decoded,
    operations.filter((operation) => !isGone(operation)),
  )
  keepFeedback(
    decoded,
    feedback.filter(({ run_id }) => !gone.has(run_id)),
  )
  const rejected = [...operations.filter(isGone), ...feedback.filter(({ run_id }) => gone.has(run_id))]
  decoded.rejected.push(...rejected.map(({ run_id }) => outcome(run_id)))
}

/** Keeps only these operations, and adapts the positions at which project ids will be written. */
function keepOperations(decoded: Decoded, kept: readonly Operation[]): void {
  const starts: number[] = []
  const moves: number[] = []
  let at = 0
  for (const { row } of kept) {
    const from = row.byteOffset - decoded.rows.byteOffset
    starts.push(from)
    moves.push(at - from)
    at += row.length
  }
  const moved = (offset: number): number[] => {
    const index = lastAtOrBefore(starts, offset)
    const inRow = index >= 0 && offset < starts[index]! + kept[index]!.row.length
    return inRow ? [offset + moves[index]!] : []
  }
  decoded.projects = decoded.projects
    .map((project) => ({ ...project, offsets: project.offsets.flatMap(moved) }))
    .filter(({ offsets }) => offsets.length > 0)
  decoded.rows = Buffer.concat(kept.map(({ row }) => row))
  decoded.blobs = blobsOf(decoded.rows, decoded.blobs)
  decoded.count = kept.length
}

/** Index of the last of the ascending numbers that is at most `value`; -1 if all are larger. */
function lastAtOrBefore(ascending: readonly number[], value: number): number {
  let [low, high] = [0, ascending.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ascending[middle]! <= value) low = middle + 1
    else high = middle
  }
  return low - 1
}

function keepFeedback(decoded: Decoded, kept: readonly FeedbackRow[]): void {
  if (kept.length === decoded.feedback_count) return
  const writer = new RowWriter()
  for (const row of kept) FEEDBACK_ROWS.write(writer, row)
  decoded.feedback_rows = writer.finish()
  decoded.feedback_count = kept.length
}

function outcome(run_id: string): Rejected {
  const { code, message } = GONE
  return {
    run_id,
    code: 'trace_deleted',
    field: 'id',
    reason: message,
    error: `Conflict: ${code}`,
    status: 409,
  }
}
