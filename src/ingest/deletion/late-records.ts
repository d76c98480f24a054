import { chunksOf } from '../../base/chunks.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import { isObject } from '../../schema/json.ts'
import { concernedTrace } from '../../trace/decode/named-trace.ts'
import { FEEDBACK_ROWS } from '../../trace/rows/feedback.ts'
import { idsOf, readFragments } from '../../trace/rows/fragment.ts'
import { RowReader } from '../../trace/rows/row-binary.ts'
import { newJob } from '../jobs.ts'
import type { LogFrame } from '../log/ingest-log.ts'
import { RECORD, type StoreBatch } from '../store/store-batch.ts'
import type { DeletionStore } from './deletion-store.ts'

/**
 * Age from which a record counts as late. Shorter than the time for which a deletion waits for data, because the
 * deletion itself finds data that is stored sooner.
 */
const LATE_MS = 5_000
/** Maximum number of ids in one job. */
const SLICE = 500

/** For each TraceRun of one workspace, the ids that its operations contain. */
type Named = Map<string, Set<string>>

/**
 * Stores batches, and then deletes records of traces that were deleted while the batch waited in the log, for example
 * because the store was unreachable. While the deleted ids cannot be read, nothing is deleted.
 */
export function deletingLateRecords(
  storeBatch: StoreBatch,
  { deletions, clock, logger }: LateRecordsDeps,
): StoreBatch {
  const deleteFrom = async (late: readonly LogFrame[]): Promise<void> => {
    try {
      for (const [workspace_id, named] of namedBy(await withDeletions(deletions, late)))
        await deleteLate(deletions, clock, workspace_id, named)
    } catch (error) {
      logger.warn({ err: error }, 'deleted traces cannot be read, so what was stored late stays')
    }
  }
  return (frames, earlierRows) => {
    const batch = storeBatch(frames, earlierRows)
    return {
      derive: (signal) => batch.derive(signal),
      async finish(signal) {
        const late = frames.filter(({ received_at }) => received_at < clock.now() - LATE_MS)
        const stored = await batch.finish(signal)
        if (late.length > 0) await deleteFrom(late)
        return stored
      },
    }
  }
}

export interface LateRecordsDeps {
  deletions: Pick<DeletionStore, 'any' | 'among' | 'add'>
  clock: Clock
  logger: Logger
}

/** The frames of workspaces in which something was deleted recently; usually none, so that nothing is parsed. */
async function withDeletions(
  deletions: LateRecordsDeps['deletions'],
  frames: readonly LogFrame[],
): Promise<LogFrame[]> {
  const found: LogFrame[] = []
  for (const frame of frames) {
    // A frame is of one request, and so of one workspace, with whose id the rows of both kinds begin.
    const workspace_id = new RowReader(frame.payload).uuid()
    if (await deletions.any(workspace_id)) found.push(frame)
  }
  return found
}

function namedBy(frames: readonly LogFrame[]): Map<string, Named> {
  const workspaces = new Map<string, Named>()
  const add = (workspace_id: string, run_id: string, ...ids: string[]): void => {
    const named = workspaces.get(workspace_id) ?? new Map<string, Set<string>>()
    workspaces.set(workspace_id, named)
    const known = named.get(run_id) ?? new Set([run_id])
    named.set(run_id, known)
    for (const id of ids) known.add(id)
  }
  for (const { kind, payload } of frames) {
    if (kind === RECORD.feedback)
      for (const { workspace_id, run_id, trace_id } of FEEDBACK_ROWS.readAll(payload))
        add(workspace_id, run_id, trace_id)
    else
      for (const { key, head } of readFragments(payload)) {
        const { workspace_id, run_id } = idsOf(key)
        const fields: unknown = head.length === 0 ? {} : JSON.parse(Buffer.from(head).toString())
        const trace_id = isObject(fields) ? concernedTrace(fields) : undefined
        add(workspace_id, run_id, ...(trace_id === undefined ? [] : [trace_id]))
      }
  }
  return workspaces
}

async function deleteLate(
  deletions: LateRecordsDeps['deletions'],
  clock: Clock,
  workspace_id: string,
  named: Named,
): Promise<void> {
  const gone = await deletions.among(workspace_id, [
    ...new Set([...named.values()].flatMap((ids) => [...ids])),
  ])
  const late = [...named].filter(([, ids]) => [...ids].some((id) => gone.has(id)))
  for (const some of chunksOf(late, SLICE)) {
    const run_ids = some.map(([run_id]) => run_id)
    const trace_ids = [...new Set(some.flatMap(([, ids]) => [...ids].filter((id) => gone.has(id))))]
    const scope = { kind: 'late', run_ids, trace_ids } as const
    await deletions.add({ ...newJob(workspace_id, clock), scope, deleted: 0 })
  }
}
