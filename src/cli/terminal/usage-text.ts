import { styleText } from 'node:util'
import type { GranularUsage, UsageDetails, UsageStride } from '../../schema/types.gen.ts'
import { type Decimal, formatDecimal, parseDecimal } from '../../trace/price/decimal.ts'
import { printable } from './printable.ts'

export interface UsageTextOptions {
  colors: boolean
  /** Characters of a line. */
  width: number
  group_by: string
}

/** The drawn values of one line of a report, and its further columns. */
interface Sums {
  amount: number
  /** Only in a report on tokens. */
  tokens?: Tokens
  /** Only in a report on deployments: nodes that their runs have completed. */
  nodes?: number
}

interface Tokens {
  prompt: number
  completion: number
  cost: Decimal | null
  /** The estimated parts of the numbers above. */
  estimated: { prompt: number; completion: number; cost: Decimal }
  /** Calls without a cost, and their tokens. */
  unpriced: { runs: number; tokens: number }
}

interface Row extends Sums {
  label: string
}

const HOUR = 3_600_000
const MAX_BARS = 60
const MAX_LABEL = 40
/** Groups beyond this number are summed up in one line. */
const MAX_GROUPS = 30
const UNITS: Readonly<Record<number, string>> = {
  1: 'hour',
  24: 'day',
  168: 'week',
  720: '30 days',
  8760: '365 days',
}
const NUMBER = new Intl.NumberFormat('en-US')

/** The report for people: a chart over time, and one of the groups, largest first. */
export function usageText(report: GranularUsage | UsageDetails, options: UsageTextOptions): string {
  const hours = hoursOf(report.stride)
  const lines = report.usage.map((line) => ({ ...line, ...sumsOf(line) }))
  if (lines.length === 0) return 'Nothing in this range.'
  const total = lines.reduce<Sums>(add, { amount: 0 })
  const blocks = [
    `${titleOf(total)} per ${UNITS[hours] ?? `${hours} hours`} (UTC)`,
    chart(bucketRows(lines, hours), options),
    `By ${groupText(options.group_by, total)}`,
    chart(groupRows(lines), options),
    `Total  ${numbers(total).join('  ')}`,
    estimateText(total),
    unpricedText(total),
  ]
  return blocks.filter((block) => block !== undefined).join('\n\n')
}

function titleOf({ tokens, nodes }: Sums): string {
  if (nodes !== undefined) return 'Runs of deployments'
  return tokens === undefined ? 'Traces' : 'Tokens'
}

/** A deployment stands for the project of its runs. */
function groupText(group_by: string, { nodes }: Sums): string {
  return nodes !== undefined && group_by === 'project' ? 'deployment' : group_by.replace('_', ' ')
}

function hoursOf({ days, hours }: UsageStride): number {
  return days * 24 + hours
}

function sumsOf(line: GranularUsage['usage'][number] | UsageDetails['usage'][number]): Sums {
  if ('traces' in line) {
    const { traces, agent_runs, nodes_executed: nodes = 0 } = line
    return agent_runs === undefined ? { amount: traces } : { amount: agent_runs, nodes }
  }
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens, total_cost } = line
  const estimated = {
    prompt: line.estimated_prompt_tokens,
    completion: line.estimated_completion_tokens,
    cost: parseDecimal(line.estimated_cost) ?? 0n,
  }
  const unpriced = { runs: line.unpriced_runs, tokens: line.unpriced_tokens }
  const cost = parseDecimal(total_cost) ?? null
  return { amount: total_tokens, tokens: { prompt, completion, cost, estimated, unpriced } }
}

function add(a: Sums, b: Sums): Sums {
  const amount = a.amount + b.amount
  if (a.nodes !== undefined || b.nodes !== undefined)
    return { amount, nodes: (a.nodes ?? 0) + (b.nodes ?? 0) }
  if (a.tokens === undefined || b.tokens === undefined) {
    const tokens = a.tokens ?? b.tokens
    return tokens === undefined ? { amount } : { amount, tokens }
  }
  return { amount, tokens: addTokens(a.tokens, b.tokens) }
}

function addTokens(a: Tokens, b: Tokens): Tokens {
  const costs = [a.cost, b.cost].filter((cost) => cost !== null)
  return {
    prompt: a.prompt + b.prompt,
    completion: a.completion + b.completion,
    cost: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0n),
    estimated: {
      prompt: a.estimated.prompt + b.estimated.prompt,
      completion: a.estimated.completion + b.estimated.completion,
      cost: a.estimated.cost + b.estimated.cost,
    },
    unpriced: {
      runs: a.unpriced.runs + b.unpriced.runs,
      tokens: a.unpriced.tokens + b.unpriced.tokens,
    },
  }
}

/** One row for each bucket from the first to the last that is not empty, including empty ones in between. */
function bucketRows(lines: readonly (Sums & { time_bucket: string })[], hours: number): Row[] {
  const sums = new Map<number, Sums>()
  for (const line of lines) {
    const time = Date.parse(line.time_bucket)
    sums.set(time, add(sums.get(time) ?? { amount: 0 }, line))
  }
  const times = [...sums.keys()]
  const rows: Row[] = []
  for (let time = Math.min(...times); time <= Math.max(...times); time += hours * HOUR) {
    const iso = new Date(time).toISOString()
    const label = hours === 1 ? iso.slice(0, 16).replace('T', ' ') : iso.slice(0, 10)
    rows.push({ label, ...(sums.get(time) ?? { amount: 0 }) })
  }
  return rows
}

type Line = Sums & { dimensions: object }

interface Group {
  label: string
  lines: Line[]
}

function groupRows(lines: readonly Line[]): Row[] {
  const groups = groupedBy(lines, baseOf, labelOf).toSorted(bySum)
  const rest = groups.slice(MAX_GROUPS)
  const rows = groups.slice(0, MAX_GROUPS).flatMap((group) => [rowOf(group), ...versionRows(group)])
  if (rest.length > 0)
    rows.push(rowOf({ label: `${rest.length} others`, lines: rest.flatMap((group) => group.lines) }))
  return rows
}

/** A row for each version of a model that was called under several names. */
function versionRows({ lines }: Group): Row[] {
  const nameOf = (dimensions: object): string =>
    'model' in dimensions && typeof dimensions.model === 'string' ? dimensions.model : ''
  const versions = groupedBy(lines, nameOf, (dimensions) => `  ${shortened(nameOf(dimensions))}`)
  return versions.length < 2 ? [] : versions.toSorted(bySum).map(rowOf)
}

function groupedBy(
  lines: readonly Line[],
  keyOf: (dimensions: object) => unknown,
  label: (dimensions: object) => string,
): Group[] {
  const groups = new Map<string, Group>()
  for (const line of lines) {
    const key = JSON.stringify(keyOf(line.dimensions))
    const group = groups.get(key) ?? { label: label(line.dimensions), lines: [] }
    group.lines.push(line)
    groups.set(key, group)
  }
  return [...groups.values()]
}

function rowOf({ label, lines }: Group): Row {
  return { label, ...lines.reduce<Sums>(add, { amount: 0 }) }
}

/** Largest first. */
function bySum(a: Group, b: Group): number {
  return rowOf(b).amount - rowOf(a).amount || (a.label < b.label ? -1 : 1)
}

/** The dimensions without the version of a model. */
function baseOf(dimensions: object): object {
  return 'base_model' in dimensions ? { ...dimensions, model: null } : dimensions
}

/** The best label of a group: a name, an email, a short key, a model without its version. */
function labelOf(dimensions: object): string {
  const values = Object.values(baseOf(dimensions)).filter((value) => typeof value === 'string')
  return shortened('model' in dimensions ? values.join('/') : (values.at(-1) ?? ''))
}

function shortened(text: string): string {
  const label = printable(text === '' ? '(none)' : text)
  return label.length > MAX_LABEL ? `${label.slice(0, MAX_LABEL - 1)}…` : label
}

function numbers({ amount, tokens, nodes }: Sums): string[] {
  if (nodes !== undefined) return [counted(amount, 'run'), counted(nodes, 'node')]
  if (tokens === undefined) return [NUMBER.format(amount)]
  const { prompt, completion, cost, estimated } = tokens
  return [
    `${mark(estimated.prompt > 0)}${NUMBER.format(prompt)} in`,
    `${mark(estimated.completion > 0)}${NUMBER.format(completion)} out`,
    cost === null ? '–' : `${mark(estimated.cost > 0n)}$${formatDecimal(cost)}`,
  ]
}

function counted(count: number, word: string): string {
  return `${NUMBER.format(count)} ${word}${count === 1 ? '' : 's'}`
}

/** The mark before a number that is at least partly estimated. */
function mark(isEstimated: boolean): string {
  return isEstimated ? '~' : ''
}

/** The line that explains the mark; undefined if no mark is shown. */
function estimateText({ amount, tokens }: Sums): string | undefined {
  const estimated = tokens === undefined ? 0 : tokens.estimated.prompt + tokens.estimated.completion
  if (estimated === 0) return undefined
  return `~ in part estimated: no count was reported for ${NUMBER.format(estimated)} of ${NUMBER.format(amount)} tokens.`
}

/** The line about calls whose cost is missing in the total; undefined if every call has a cost. */
function unpricedText({ tokens }: Sums): string | undefined {
  if (tokens === undefined || tokens.unpriced.runs === 0) return undefined
  const { runs, tokens: count } = tokens.unpriced
  return `No price: ${counted(runs, 'call')} with ${NUMBER.format(count)} tokens, which the costs do not include. The page Prices of the web interface (weir open) lists models without a price and adds one; docs/using/prices.md shows the request. Models: weir usage --group-by model.`
}

function chart(rows: readonly Row[], { colors, width }: UsageTextOptions): string {
  const cells = rows.map(numbers)
  const columns = Math.max(...cells.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, i) =>
    Math.max(...cells.map((row) => row[i]?.length ?? 0)),
  )
  const label = Math.max(...rows.map((row) => row.label.length))
  const taken = 2 + label + 2 + widths.reduce((sum, size) => sum + size + 2, 0)
  const room = Math.max(8, Math.min(MAX_BARS, width - taken))
  const most = Math.max(...rows.map(({ amount }) => amount))
  return rows
    .map((row, i) => {
      const drawn = bar(row.amount, most, room)
      const painted = colors ? styleText('cyan', drawn, { validateStream: false }) : drawn
      const values = widths.map((size, k) => (cells[i]?.[k] ?? '').padStart(size))
      return `  ${row.label.padEnd(label)}  ${painted}${' '.repeat(room - drawn.length)}  ${values.join('  ')}`.trimEnd()
    })
    .join('\n')
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** A bar in eighths of a character; an amount above 0 is always visible. */
function bar(amount: number, most: number, room: number): string {
  if (amount <= 0 || most <= 0) return ''
  const eighths = Math.max(1, Math.round((amount / most) * room * 8))
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '')
}
