import type { RowWriter } from './row-binary.ts'

/**
 * A TraceRun sent without its place in the trace, whose parent had not been received; `resolved` once it has been
 * derived with it. The later of two notes on one pair counts; the store adds the time, and forgets after a week.
 */
export interface WaitingChild {
  workspace_id: string
  parent_run_id: string
  run_id: string
  resolved: boolean
}

/** Columns of table `waiting_children` in the order of the encoding. */
export const WAITING_CHILD_COLUMNS = ['workspace_id', 'parent_run_id', 'run_id', 'resolved'] as const

/** Appends one row of table `waiting_children`. */
export function writeWaitingChild(writer: RowWriter, child: WaitingChild): void {
  writer.uuid(child.workspace_id)
  writer.uuid(child.parent_run_id)
  writer.uuid(child.run_id)
  writer.u8(child.resolved ? 1 : 0)
}
