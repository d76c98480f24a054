import type { TraceRunRead as ReadRun } from '../../../api/platform.gen.ts'
import {
  addDecimals,
  compareDecimals,
  divideDecimal,
  shiftDecimal,
  subtractDecimals,
} from '../../../parts/format/decimal.ts'
import { fieldOf, llmOf } from '../../../data/llm-facts.ts'

/** One line of the breakdown: a side, or a part of it. */
export interface CostPart {
  side: 'input' | 'output'
  /** `cache_read`, `reasoning` …; `base` has the tokens that no other part has; undefined for the whole side. */
  name: string | undefined
  tokens: number | undefined
  /** Dollars per million tokens; undefined when it is not a finite decimal, or there is no amount. */
  perMillion: string | undefined
  /** Dollars; undefined if they are unknown, or are those of other parts. */
  amount: string | undefined
  /** Whether its tokens and their amount are those of other parts of the side, because it has no price of its own. */
  isTold: boolean
}

/** A number that is no token, or the fee of the call. */
export interface CostUnit {
  /** Undefined for all units of a run that an earlier release priced, which kept only the sum of their costs. */
  name: string | undefined
  count: number | undefined
  /** Dollars for one. */
  each: string | undefined
  amount: string | undefined
}

export interface CostTable {
  parts: readonly CostPart[]
  /** Who counted the tokens of each side. */
  counted: Readonly<Record<CostPart['side'], string>>
  total: string | null
  /** Whether the amounts of the parts add up to the total exactly; undefined without amounts. */
  addsUp: boolean | undefined
  priceId: string | undefined
  units: readonly CostUnit[]
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

const TIER = /^(flex|priority|batch|scale|fast)_(.+)$/

/** The told tokens of a part; a part of a tier (`flex_cache_read`) may be told without the tier. */
function toldOf(name: string, details: Counts): number | undefined {
  return details[name] ?? details[TIER.exec(name)?.[2] ?? name]
}

/** Whether the tokens of `part` are also told in the count of `whole`. */
function isWithin(part: string, whole: string, details: Counts): boolean {
  const [, tier, name] = TIER.exec(part) ?? []
  if (tier !== undefined && name !== undefined) {
    if (details[part] !== undefined) return false
    return whole === tier || (whole.startsWith(tier) && isWithin(name, whole.slice(tier.length + 1), details))
  }
  if (part === 'cache_read_over_200k') return false
  return part.startsWith('cache_read_') && (whole === 'cache_read' || part === `cache_read_${whole}`)
}

/** The tokens of each part that no smaller part has, so that they add up; undefined if they are not known. */
function ownTokens(names: readonly string[], details: Counts): Map<string, number | undefined> {
  const own = (name: string): number | undefined =>
    names
      .filter((other) => other !== name && isWithin(other, name, details))
      .reduce<number | undefined>((left, other) => minus(left, own(other)), toldOf(name, details))
  return new Map(names.map((name) => [name, own(name)]))
}

/** A difference of counts, at least 0. */
function minus(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : Math.max(0, a - b)
}

function perMillion(amount: string | undefined, tokens: number | undefined): string | undefined {
  const each = amount === undefined || tokens === undefined ? undefined : divideDecimal(amount, tokens)
  return each === undefined ? undefined : shiftDecimal(each, MILLION_PLACES)
}

interface SideFacts {
  tokens: number | undefined
  amount: string | undefined
  details: Counts
  amounts: Texts
}

/** The amounts of the parts of a side, `base` included: a client may have sent some of them. */
function wholeAmounts({ amount, amounts }: SideFacts): Texts {
  const parts = Object.values(amounts)
  if (amount === undefined || parts.length === 0) return amounts
  const rest = subtractDecimals(amount, addDecimals(parts) ?? amount)
  if (rest === undefined || rest === '0' || rest.startsWith('-')) return amounts
  return { ...amounts, base: addDecimals([amounts['base'] ?? '0', rest]) ?? rest }
}

/** A side and its parts: those with an amount, or without amounts all that were told, and the rest as `base`. */
function sideParts(side: CostPart['side'], facts: SideFacts): CostPart[] {
  const { tokens, amount, details } = facts
  const amounts = wholeAmounts(facts)
  const isPriced = Object.keys(amounts).length > 0
  const told = Object.keys(details).filter((name) => details[name] !== 0)
  const split = isPriced ? Object.keys(amounts).filter((name) => name !== 'base') : told
  const own = ownTokens(split, details)
  const line = (name: string, count: number | undefined, isTold = false): CostPart => ({
    side,
    name,
    tokens: count ?? details[name],
    perMillion: perMillion(amounts[name], count),
    amount: amounts[name],
    isTold,
  })
  const rest = [...own.values()].reduce(minus, tokens)
  const parts = split.map((name) => line(name, own.get(name)))
  if (parts.length > 0 && (amounts['base'] !== undefined || (rest ?? 0) > 0)) parts.push(line('base', rest))
  const others = told.filter((name) => !split.some((it) => it === name || TIER.exec(it)?.[2] === name))
  parts.push(...others.map((name) => line(name, details[name], true)))
  if (tokens === undefined && amount === undefined && parts.length === 0) return []
  const isWhole = split.length === 0
  return [
    {
      side,
      name: undefined,
      tokens,
      perMillion: isWhole ? perMillion(amount, tokens) : undefined,
      amount,
      isTold: false,
    },
    ...parts,
  ]
}

/** The amounts that add up to the total: those of the parts; of a side without such parts, that of the side. */
function summands(parts: readonly CostPart[]): string[] {
  const split = new Set(
    parts.filter(({ name, amount }) => name !== undefined && amount !== undefined).map(({ side }) => side),
  )
  return parts.flatMap(({ side, name, amount }) =>
    (name === undefined) === split.has(side) ? [] : (amount ?? []),
  )
}

/** Units with a count or an amount, and what else a computed total has beside the costs of both sides. */
function unitsOf(run: ReadRun): CostUnit[] {
  const counts = recordOf<number>(fieldOf(run, 'usage_units'))
  const amounts = recordOf<string>(fieldOf(run, 'unit_costs'))
  const units = [...new Set([...Object.keys(counts), ...Object.keys(amounts)])].map((name) => {
    const [count, amount] = [counts[name], amounts[name]]
    const each = amount === undefined || !count ? undefined : divideDecimal(amount, count)
    return { name, count, each, amount }
  })
  const besides = Object.keys(amounts).length > 0 ? undefined : besidesOf(run)
  if (besides === undefined || besides === '0') return units
  return [...units, { name: undefined, count: undefined, each: undefined, amount: besides }]
}

/** What a computed total has beside the costs of both sides. */
function besidesOf(run: ReadRun): string | undefined {
  const { total_cost, prompt_cost, completion_cost } = run
  if (typeof total_cost !== 'string' || fieldOf(run, 'cost_source') !== 'computed') return undefined
  const sides = addDecimals([prompt_cost ?? '0', completion_cost ?? '0'])
  return sides === undefined ? undefined : subtractDecimals(total_cost, sides)
}

/**
 * The parts of a run's tokens and cost. Each price is the quotient of an amount and its tokens. So it is the price with
 * which the cost was computed, even if prices have changed since.
 */
export function costTable(run: ReadRun): CostTable {
  const counted = llmOf(run)?.usage_source ?? {}
  const parts = [
    ...sideParts('input', {
      tokens: run.prompt_tokens ?? undefined,
      amount: run.prompt_cost ?? undefined,
      details: recordOf(fieldOf(run, 'prompt_token_details')),
      amounts: recordOf(run.prompt_cost_details),
    }),
    ...sideParts('output', {
      tokens: run.completion_tokens ?? undefined,
      amount: run.completion_cost ?? undefined,
      details: recordOf(fieldOf(run, 'completion_token_details')),
      amounts: recordOf(run.completion_cost_details),
    }),
  ]
  const total = run.total_cost ?? null
  const units = unitsOf(run)
  const amounts = summands(parts)
  const sum = addDecimals([...amounts, ...units.flatMap(({ amount }) => amount ?? [])])
  const source = sourceOf(fieldOf(run, 'cost_source'))
  const isStated = source !== 'computed' && units.length > 0
  const priceId = fieldOf(run, 'price_model_id')
  const computed = fieldOf(run, 'computed_cost')
  return {
    parts,
    counted: { input: counted.input ?? '', output: counted.output ?? '' },
    total,
    addsUp:
      total === null || amounts.length === 0 || sum === undefined || isStated
        ? undefined
        : compareDecimals(sum, total) === 0,
    priceId: typeof priceId === 'string' ? priceId : undefined,
    units,
    conditions: conditionsOf(run),
    source,
    computed: typeof computed === 'string' ? computed : undefined,
  }
}

/** Conditions as words; of usage by model the names of the models. */
function conditionsOf(run: ReadRun): string[] {
  const usage = recordOf<unknown>(recordOf<unknown>(fieldOf(run, 'llm'))['usage_metadata'])
  return Object.entries(recordOf<unknown>(usage['conditions'])).map(([name, value]) => {
    const models = Array.isArray(value) ? value.map((part) => recordOf<unknown>(part)['model']) : [value]
    return `${name.replaceAll('_', ' ')} ${models.join(' and ')}`
  })
}

function sourceOf(value: unknown): CostTable['source'] {
  return value === 'vendor' || value === 'client' || value === 'computed' ? value : undefined
}
