import { flag, rowFormat, uuid } from '../../rows/row-format.ts'

/**
 * A TraceRun that was sent without its place in the trace, before its parent arrived. `resolved` is true once it has
 * been derived with the parent. Of several rows with the same parent and child, the last one counts. The store adds
 * the time, and deletes rows after a week.
 */
export interface WaitingChild {
  workspace_id: string
  parent_run_id: string
  run_id: string
  resolved: boolean
}

/** Rows of table `waiting_children`. */
export const WAITING_CHILD_ROWS = rowFormat<WaitingChild>({
  workspace_id: uuid,
  parent_run_id: uuid,
  run_id: uuid,
  resolved: flag,
})
