import type { TraceTurnSelect } from '../../schema/types.gen.ts'
import type { Totals } from '../derive/roll-up.ts'
import type { TraceRun } from '../derive/trace-run.ts'
import type { CostDetails } from '../price/cost-details.ts'
import type { TraceRunRow } from '../rows/trace-run-row.ts'
import type { RunLinks } from './run-links.ts'
import { columnsOf, rawDetails, selectedFields } from './selected-run.ts'
import { costNumber, time } from './row-fields.ts'

/** A trace of a thread: its root, and tokens and costs of all of its TraceRuns. */
export interface TurnParts {
  root: TraceRunRow
  /** Present if a selected field needs the payloads. */
  traceRun: TraceRun | undefined
  sums: Totals
  details: {
    prompt_token_details: Record<string, number>
    completion_token_details: Record<string, number>
    prompt_cost_details: CostDetails
    completion_cost_details: CostDetails
  }
  /** Number of the trace in its thread, from 1. */
  turn_number: number
  thread_id: string
}

/** Fields whose value is that of the root, as in reads of single TraceRuns. */
const OF_ROOT = [
  'NAME',
  'START_TIME',
  'END_TIME',
  'ERROR',
  'ERROR_PREVIEW',
  'INPUTS',
  'OUTPUTS',
  'INPUTS_PREVIEW',
  'OUTPUTS_PREVIEW',
] as const
type OfRoot = (typeof OF_ROOT)[number]

/** Links for the fields of the root, none of which contains a link. */
const NO_LINKS: RunLinks = { address: '', workspace_id: '', share_tokens: new Map(), key: '', expires: 0 }

/** The columns of the root that FIELDS need. */
const OWN_COLUMNS = ['trace_id', 'run_type', 'start_time', 'end_time'] as const

/** Run types in the order of their numbers in `op`, from 1; other types are 0. */
const OPS = ['llm', 'chain', 'tool', 'retriever', 'embedding', 'prompt', 'parser']

const FIELDS: Readonly<Record<Exclude<TraceTurnSelect, OfRoot>, (parts: TurnParts) => unknown>> = {
  THREAD_ID: ({ thread_id }) => thread_id,
  TRACE_ID: ({ root }) => root.trace_id,
  OP: ({ root }) => OPS.indexOf(root.run_type) + 1,
  TURN_NUMBER: ({ turn_number }) => turn_number,
  LATENCY: ({ root: { start_time, end_time } }) =>
    end_time === null ? null : Math.max(0, end_time - start_time) / 1e6,
  FIRST_TOKEN_TIME: ({ sums }) => time(sums.first_token_time),
  PROMPT_TOKENS: ({ sums }) => sums.prompt_tokens,
  COMPLETION_TOKENS: ({ sums }) => sums.completion_tokens,
  TOTAL_TOKENS: ({ sums }) => sums.prompt_tokens + sums.completion_tokens,
  PROMPT_COST: ({ sums }) => costNumber(sums.prompt_cost),
  COMPLETION_COST: ({ sums }) => costNumber(sums.completion_cost),
  TOTAL_COST: ({ sums }) => costNumber(sums.total_cost),
  UNPRICED_RUNS: ({ sums }) => sums.unpriced_runs,
  PROMPT_TOKEN_DETAILS: ({ details }) => rawDetails(details.prompt_token_details),
  COMPLETION_TOKEN_DETAILS: ({ details }) => rawDetails(details.completion_token_details),
  PROMPT_COST_DETAILS: ({ details }) => rawDetails(details.prompt_cost_details),
  COMPLETION_COST_DETAILS: ({ details }) => rawDetails(details.completion_cost_details),
}

/** Names of all fields, as in `selects`. */
export const TURN_SELECTS: [TraceTurnSelect, ...TraceTurnSelect[]] = [
  'TRACE_ID',
  ...(Object.keys(FIELDS) as TraceTurnSelect[]).filter((select) => select !== 'TRACE_ID'),
  ...OF_ROOT,
]

/** The columns of the root that the selected fields need. */
export function rootColumns(selects: Iterable<TraceTurnSelect>): (keyof TraceRunRow)[] {
  return [...new Set([...columnsOf(fieldsOfRoot(selects)), ...OWN_COLUMNS])]
}

/** The selected fields that reads of the root have too. */
export function fieldsOfRoot(selects: Iterable<TraceTurnSelect>): OfRoot[] {
  const wanted = new Set(selects)
  return OF_ROOT.filter((select) => wanted.has(select))
}

/** Name and value of each selected field; `trace_id` always (S-10). */
export function turnFields(selects: ReadonlySet<TraceTurnSelect>, parts: TurnParts): [string, unknown][] {
  const { root: row, traceRun, thread_id, sums } = parts
  const ofRoot = selectedFields(new Set(fieldsOfRoot(selects)), {
    row,
    traceRun,
    thread_id,
    counts: sums,
    feedback: undefined,
    links: NO_LINKS,
  })
  const own = Object.entries(FIELDS).filter(
    ([select]) => select === 'TRACE_ID' || selects.has(select as TraceTurnSelect),
  )
  return [...own.map(([select, value]): [string, unknown] => [select.toLowerCase(), value(parts)]), ...ofRoot]
}
