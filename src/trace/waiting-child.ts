import type { RowWriter } from './row-binary.ts'

/** A TraceRun sent without its place in the trace, whose parent has not been received. */
export interface WaitingChild {
  workspace_id: string
  parent_run_id: string
  run_id: string
  /** Epoch milliseconds. */
  received_at: number
}

/** Columns of table `waiting_children` in the order of the encoding. */
export const WAITING_CHILD_COLUMNS = ['workspace_id', 'parent_run_id', 'run_id', 'received_at'] as const

/** Appends one row of table `waiting_children`. */
export function writeWaitingChild(writer: RowWriter, child: WaitingChild): void {
  writer.uuid(child.workspace_id)
  writer.uuid(child.parent_run_id)
  writer.uuid(child.run_id)
  writer.i64(BigInt(child.received_at))
}
