/** Every code of an issue; docs/using/issues.md has the same list with severities, meanings and what to do. */
export const ISSUE_CODES = [
  // The run
  'unknown_run_type',
  'start_time_missing',
  'implausible_time',
  'end_before_start',
  'parent_unknown',
  'several_roots',
  'several_spans',
  'span_of_web_framework',
  'invalid_tags',
  'invalid_extra',
  'payload_too_large',
  'not_derived',
  'new_token_without_time',
  'new_token_outside_run',
  // Inputs and outputs
  'side_not_json',
  'dialect_unknown',
  'side_repaired',
  'processor_failed',
  'more_issues',
  // Messages
  'message_not_object',
  'role_missing',
  'unknown_role',
  'content_missing',
  'content_not_array',
  'content_not_object',
  'content_not_text',
  'content_type_missing',
  'unknown_content_type',
  'content_field_missing',
  'content_field_invalid',
  'media_without_base64',
  'tool_args_not_json',
  'invalid_tool_call',
  'tool_call_id_unknown',
  'tool_call_id_misplaced',
  // Usage
  'count_as_string',
  'count_not_integer',
  'invalid_count',
  'invalid_cost',
  'total_mismatch',
  'reasoning_added',
  'no_price',
  'condition_not_priced',
  'unit_not_priced',
  'detail_not_priced',
  'usage_dropped',
  'rest_counted',
  'cache_added',
  'usage_conflict',
  'usage_unread',
  'estimate_sampled',
] as const

/** Code of an issue. A user's own processors may add others, which are passed on unchanged. */
export type IssueCode = (typeof ISSUE_CODES)[number]

/** A remark about a submitted item. An `error` fails its verdict, a `warning` does not, an `info` only explains. */
export interface Issue {
  code: IssueCode
  severity: 'error' | 'warning' | 'info'
  /** JSON path from the TraceRun's top, e.g. `outputs.choices[0].message.role`. */
  path: string
  /** The fault, in one sentence. */
  message: string
  /** How to correct it, in one sentence. */
  fix?: string
}

/** Joins two JSON path pieces: `joinPath('inputs', '[0].role')` is `inputs[0].role`. */
export function joinPath(base: string, rest: string): string {
  if (base === '' || rest === '') return base + rest
  return rest.startsWith('[') ? base + rest : `${base}.${rest}`
}
