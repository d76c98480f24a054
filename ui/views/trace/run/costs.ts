import type { ReadRun } from '../../../data/runs.ts'
import { addDecimals, compareDecimals, divideDecimal, shiftDecimal } from '../../../parts/format/decimal.ts'
import { fieldOf, llmOf } from '../../../data/llm-facts.ts'

/** One line of the breakdown: tokens × price = amount. */
export interface CostPart {
  side: 'input' | 'output'
  /** `cache_read`, `reasoning` …; `base` has all other tokens. */
  name: string
  tokens: number | undefined
  /** Dollars per million tokens; undefined when it is not a finite decimal, or there is no amount. */
  perMillion: string | undefined
  /** Dollars; undefined for tokens without a separate price, whose cost is part of `base`. */
  amount: string | undefined
  source: string
}

/** The breakdown of a run's cost. */
export interface CostTable {
  parts: readonly CostPart[]
  total: string | null
  /** Whether the amounts of the parts add up to the total exactly; undefined without amounts. */
  addsUp: boolean | undefined
  priceId: string | undefined
  /** Numbers that are no tokens, which a computed total includes. */
  units: readonly (readonly [name: string, count: number])[]
  /** What changes the price, as `speed fast`. */
  conditions: readonly string[]
  /** Who says the total. */
  source: 'vendor' | 'client' | 'computed' | undefined
  /** What the prices say beside a stated total. */
  computed: string | undefined
}

type Texts = Readonly<Record<string, string>>
type Counts = Readonly<Record<string, number>>

const MILLION_PLACES = 6

function recordOf<T>(value: unknown): Readonly<Record<string, T>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, T>) : {}
}

function partsOf(
  side: 'input' | 'output',
  tokens: number | null | undefined,
  { details, amounts, source }: { details: Counts; amounts: Texts; source: string },
): CostPart[] {
  const priced = Object.keys(details).filter((name) => amounts[name] !== undefined)
  const rest =
    tokens === null || tokens === undefined
      ? undefined
      : priced.reduce((left, name) => left - (details[name] ?? 0), tokens)
  const names = [...new Set(['base', ...Object.keys(amounts), ...Object.keys(details)])]
  return names.flatMap((name): CostPart[] => {
    const count = name === 'base' ? rest : details[name]
    const amount = amounts[name]
    if ((count === undefined || count === 0) && amount === undefined) return []
    const each = amount === undefined || count === undefined ? undefined : divideDecimal(amount, count)
    const perMillion = each === undefined ? undefined : shiftDecimal(each, MILLION_PLACES)
    return [{ side, name, tokens: count, perMillion, amount, source }]
  })
}

/**
 * The parts of a run's tokens and cost. Each price is the quotient of an amount and its tokens. So it is the price with
 * which the cost was computed, even if prices have changed since.
 */
export function costTable(run: ReadRun): CostTable {
  const source = llmOf(run)?.usage_source ?? {}
  const parts = [
    ...partsOf('input', run.prompt_tokens, {
      details: recordOf(fieldOf(run, 'prompt_token_details')),
      amounts: recordOf(run.prompt_cost_details),
      source: source.input ?? '',
    }),
    ...partsOf('output', run.completion_tokens, {
      details: recordOf(fieldOf(run, 'completion_token_details')),
      amounts: recordOf(run.completion_cost_details),
      source: source.output ?? '',
    }),
  ]
  const amounts = parts.flatMap(({ amount }) => amount ?? [])
  const total = run.total_cost ?? null
  const sum = addDecimals(amounts)
  const units = Object.entries(recordOf<number>(fieldOf(run, 'usage_units')))
  const addsUp =
    total === null || amounts.length === 0 || sum === undefined || units.length > 0
      ? undefined
      : compareDecimals(sum, total) === 0
  const priceId = fieldOf(run, 'price_model_id')
  const computed = fieldOf(run, 'computed_cost')
  return {
    parts,
    total,
    addsUp,
    priceId: typeof priceId === 'string' ? priceId : undefined,
    units,
    conditions: conditionsOf(run),
    source: sourceOf(fieldOf(run, 'cost_source')),
    computed: typeof computed === 'string' ? computed : undefined,
  }
}

function conditionsOf(run: ReadRun): string[] {
  const usage = recordOf<unknown>(recordOf<unknown>(fieldOf(run, 'llm'))['usage_metadata'])
  return Object.entries(recordOf<unknown>(usage['conditions'])).map(([name, value]) =>
    typeof value === 'object' && value !== null ? name : `${name} ${String(value)}`,
  )
}

function sourceOf(value: unknown): CostTable['source'] {
  return value === 'vendor' || value === 'client' || value === 'computed' ? value : undefined
}
