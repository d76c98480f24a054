import { FEEDBACK_ROWS } from '../../trace/rows/feedback.ts'
import { COUNTED_TRACE_ROWS } from '../../usage/counting/counted-trace.ts'
import { FRAGMENT_COLUMNS, OUTLINE_COLUMNS, PAYLOAD_COLUMNS } from '../../trace/rows/fragment.ts'
import { ROLL_UP_COLUMNS, TRACE_OUTLINE_COLUMNS, TRACE_RUN_ROWS } from '../../trace/rows/trace-run-row.ts'
import { USAGE_CLAIM_ROWS } from '../../usage/counting/claim.ts'
import { WAITING_CHILD_ROWS } from '../../trace/derive/lineage/waiting-child.ts'

/** Column order of each encoding, passed to the store when it is opened. */
export const STORED_COLUMNS = {
  fragments: FRAGMENT_COLUMNS,
  outlines: OUTLINE_COLUMNS,
  payloads: PAYLOAD_COLUMNS,
  runs: TRACE_RUN_ROWS.columns,
  feedback: FEEDBACK_ROWS.columns,
  waiting_children: WAITING_CHILD_ROWS.columns,
  roll_up: ROLL_UP_COLUMNS,
  trace_outline: TRACE_OUTLINE_COLUMNS,
}

/** Column order of each encoding of the tables of usage. */
export const USAGE_COLUMNS = {
  usage_claims: USAGE_CLAIM_ROWS.columns,
  usage_traces: COUNTED_TRACE_ROWS.columns,
}
