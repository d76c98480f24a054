import type { GranularUsage, UsageDetails, UsageStride } from '../../schema/types.gen.ts'
import { textCell } from '../../base/text/csv-cell.ts'
import { strideMillis } from './stride.ts'
import { formatUsageTime } from './time.ts'

/** A sum. A cost is text, but is written as a number; units are written as `web_searches 2; images 1`. */
type Sum = string | number | Readonly<Record<string, number | undefined>> | null

/** Column titles by the key in `dimensions`. */
const DIMENSIONS = {
  workspace_id: 'Workspace ID',
  workspace_name: 'Workspace Name',
  project_id: 'Project ID',
  project_name: 'Project Name',
  user_id: 'User ID',
  user_email: 'User Email',
  api_key_short_key: 'API Key Short Key',
} as const

const MODEL_DIMENSIONS = { ...DIMENSIONS, provider: 'Provider', model: 'Model' } as const

/** Column titles by the name of the sum. */
const SUMS = {
  llm_runs: 'LLM Runs',
  prompt_tokens: 'Prompt Tokens',
  completion_tokens: 'Completion Tokens',
  total_tokens: 'Total Tokens',
  prompt_cost: 'Prompt Cost',
  completion_cost: 'Completion Cost',
  total_cost: 'Total Cost',
  estimated_prompt_tokens: 'Estimated Prompt Tokens',
  estimated_completion_tokens: 'Estimated Completion Tokens',
  estimated_cost: 'Estimated Cost',
  unpriced_runs: 'Unpriced Runs',
  unpriced_tokens: 'Unpriced Tokens',
  units: 'Units',
} as const

interface Line {
  time_bucket: string
  dimensions: object
}

/**
 * The usage report as CSV (RFC 4180, CRLF after every line). It always has the ten columns; only those of the report's
 * grouping are filled. A cell that a spreadsheet would read as a formula begins with a tab.
 */
export function usageCsv(report: GranularUsage): string {
  return csv(report.stride, report.usage, DIMENSIONS, { traces: 'Traces' })
}

/** The usage of deployments as CSV, like `usageCsv`: two columns of numbers. */
export function deploymentUsageCsv(report: GranularUsage): string {
  return csv(report.stride, report.usage, DIMENSIONS, {
    nodes_executed: 'Nodes Executed',
    agent_runs: 'Agent Runs',
  })
}

/** Tokens and costs as CSV, like `usageCsv`: further columns for provider, model and each sum. */
export function usageDetailsCsv(report: UsageDetails): string {
  return csv(report.stride, report.usage, MODEL_DIMENSIONS, SUMS)
}

function csv<S extends string>(
  stride: UsageStride,
  lines: readonly (Line & { readonly [sum in NoInfer<S>]?: Sum })[],
  dimensions: Readonly<Record<string, string>>,
  sums: Readonly<Record<S, string>>,
): string {
  const keys = Object.keys(dimensions)
  const fields = Object.keys(sums) as S[]
  const header = [
    'Time Bucket Start',
    'Time Bucket End',
    ...Object.values(dimensions),
    ...fields.map((field) => sums[field]),
  ]
  const rows = lines.map((line) => {
    const end = formatUsageTime(Date.parse(line.time_bucket) + strideMillis(stride))
    const known: Readonly<Record<string, string | null>> = { ...line.dimensions }
    const group = keys.map((key) => textCell(known[key] ?? ''))
    return [line.time_bucket, end, ...group, ...fields.map((field) => sumCell(line[field] ?? null))]
  })
  return [header, ...rows].map((row) => `${row.join(',')}\r\n`).join('')
}

function sumCell(sum: Sum): string {
  if (typeof sum !== 'object') return String(sum)
  const units = Object.entries(sum ?? {}).map(([unit, count]) => `${unit} ${count}`)
  return textCell(units.join('; '))
}
