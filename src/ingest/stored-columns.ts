import { FEEDBACK_COLUMNS } from '../trace/feedback.ts'
import { COUNTED_TRACE_COLUMNS } from '../trace/counted-trace.ts'
import { FRAGMENT_COLUMNS, OUTLINE_COLUMNS, PAYLOAD_COLUMNS } from '../trace/fragment.ts'
import { ROLL_UP_COLUMNS, TRACE_RUN_COLUMNS } from '../trace/trace-run-row.ts'
import { USAGE_CLAIM_COLUMNS } from '../trace/usage-claim.ts'
import { WAITING_CHILD_COLUMNS } from '../trace/waiting-child.ts'

/** Column order of each encoding that the store takes or gives: handed to it when it is opened. */
export const STORED_COLUMNS = {
  run_fragments: FRAGMENT_COLUMNS,
  outlines: OUTLINE_COLUMNS,
  payloads: PAYLOAD_COLUMNS,
  runs: TRACE_RUN_COLUMNS,
  feedback: FEEDBACK_COLUMNS,
  waiting_children: WAITING_CHILD_COLUMNS,
  roll_up: ROLL_UP_COLUMNS,
}

/** The same for the tables of usage. */
export const USAGE_COLUMNS = {
  usage_claims: USAGE_CLAIM_COLUMNS,
  usage_traces: COUNTED_TRACE_COLUMNS,
}
