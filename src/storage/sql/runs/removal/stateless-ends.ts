import { type Clock, createExpiryTime } from '../../../../base/clock.ts'
import { deletedJson, errorJson, errorOf } from '../../../../runs/execute/end-response.ts'
import { type EndedStatus, isFailure } from '../../../../runs/execute/end-event.ts'
import type { Caller, Run } from '../../../../runs/model.ts'
import { isTemporary } from '../../../../runs/plan-run.ts'
import type { RunStore, StatelessEnd } from '../../../../runs/run-store.ts'
import { parseExact } from '../../../../schema/exact-json.ts'
import type { JsonObject } from '../../../../schema/json.ts'
import type { LockedThread, RunDatabase, RunSession } from '../session.ts'

/** The end of a run of a thread that is deleted with it. */
export interface GoneRun {
  run_id: string
  status: EndedStatus
  error: Run['error']
  /** The thread's values, JSON text. */
  values_json: string | null
}

/** Time for which the end of a stateless run is kept: that of its stream. */
const KEPT_MS = 10 * 60_000
/** Number of ends that one transaction deletes. */
const STEP = 500

const INSERT = `INSERT INTO stateless_ends (run_id, deployment_id, workspace_id, thread_id, created_at, ended_at,
    status, caller, metadata, answer)
  SELECT run_id, deployment_id, workspace_id, thread_id, created_at, CAST(? AS BIGINT), CAST(? AS TEXT), caller,
    CAST(? AS TEXT), CAST(? AS TEXT) FROM runs WHERE run_id = ? AND deployment_id = ? AND workspace_id = ?
  ON CONFLICT (run_id, deployment_id, workspace_id) DO UPDATE SET thread_id = excluded.thread_id,
    created_at = excluded.created_at, ended_at = excluded.ended_at, status = excluded.status,
    caller = excluded.caller, metadata = excluded.metadata, answer = excluded.answer`

/** Whether a locked thread is deleted with its last active run. */
export function goesWithRun({ config }: LockedThread): boolean {
  return isTemporary({ config: JSON.parse(config) as JsonObject })
}

function answerOf({ dialect }: RunSession, { run_id, status, error, values_json }: GoneRun): string | null {
  if (status === 'deleted') return deletedJson(run_id)
  if (isFailure(status)) return errorJson(errorOf({ status, error }))
  return dialect === 'postgres' ? values_json : null
}

/** Keeps the ends of runs of a thread for those who wait for them. Must be called before the runs are deleted. */
export function keepEnds(
  session: RunSession,
  thread: LockedThread,
  runs: readonly GoneRun[],
  now: number,
): void {
  for (const run of runs) {
    const { deployment_id, workspace_id, metadata } = thread
    const kept = [now, run.status, metadata, answerOf(session, run)]
    session.send(INSERT, [...kept, run.run_id, deployment_id, workspace_id])
  }
}

interface EndRow extends Omit<StatelessEnd, 'caller' | 'metadata' | 'answer'> {
  caller: string
  metadata: string
  answer: string | null
}

/** The part of the run store for stateless runs that have ended; see `RunStore`. */
export function createStatelessEnds(
  database: RunDatabase,
  clock: Clock,
): Pick<RunStore, 'statelessEnd' | 'forgetStatelessEnds'> {
  const expiryTime = createExpiryTime(clock)
  return {
    async statelessEnd({ deployment_id, workspace_id }, run_id) {
      const [row] = await database.query<EndRow>(
        `SELECT run_id, thread_id, created_at, ended_at, status, caller, metadata, answer FROM stateless_ends
          WHERE run_id = ? AND deployment_id = ? AND workspace_id = ?`,
        [run_id, deployment_id, workspace_id],
      )
      if (row === undefined) return undefined
      const { caller, metadata, answer, ...rest } = row
      return {
        ...rest,
        caller: JSON.parse(caller) as Caller,
        metadata: parseExact(metadata) as JsonObject,
        answer: answer ?? '{}',
      }
    },
    async forgetStatelessEnds() {
      const before = Math.floor(expiryTime() - KEPT_MS)
      for (;;) {
        const gone = await database.query(
          `DELETE FROM stateless_ends WHERE (run_id, deployment_id, workspace_id) IN (SELECT run_id, deployment_id,
            workspace_id FROM stateless_ends WHERE ended_at <= ? LIMIT ${STEP}) RETURNING run_id`,
          [before],
        )
        if (gone.length < STEP) return
      }
    },
  }
}
