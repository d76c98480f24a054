import type { Issue } from '../../../schema/issue.ts'

/** The counts of one usage object; `total` is as sent. */
export interface SentCounts {
  input_tokens: number
  output_tokens: number
  total: number | undefined
  input_token_details: Record<string, number>
  output_token_details: Record<string, number>
}

/** How the sender counts. */
export interface CountingHabits {
  /** Details that their side does not include by default, as `input.cache_read`. */
  beside: ReadonlySet<string>
  /** Whether the vendor bills tokens of its total beyond the sides. */
  billsGap: boolean
  path: string
}

/** Tokens that a side may or may not include. */
interface Addend {
  side: 'input' | 'output'
  name: 'cache' | 'reasoning' | 'other'
  count: number
  /** Whether the side does not include them by default. */
  isBeside: boolean
}

const MOST_ADDENDS = 8

/**
 * Makes both sides include all their details (rules U3 to U5). If the total is the sum of the sides, the details are
 * inside; if it is more by the sum of some details, these are beside and are added. Without a total, or with one that
 * nothing explains, the sender's habit decides. A detail that exceeds its side is always beside. Issues report what was
 * added against the habit, and a total that nothing explains.
 */
export function reconcile(counts: SentCounts, habits: CountingHabits, issues: Issue[]): void {
  const addends = addendsOf(counts, habits)
  const sent = counts.input_tokens + counts.output_tokens
  const gap = counts.total === undefined ? undefined : counts.total - sent
  if (addends.length === 0 && !gap) {
    if (gap === undefined) addExceedingKinds(counts)
    return
  }
  const byTotal = gap === undefined ? undefined : explain(gap, addends)
  const isRest = byTotal === undefined && habits.billsGap && gap !== undefined && gap > 0
  const added = isRest ? [] : byTotal?.length ? byTotal : besideByHabit(addends, counts, gap === 0)
  if (isRest) issues.push(countRest(counts, gap, habits.path))
  addAll(counts, added, habits, issues)
  if (gap === undefined) addExceedingKinds(counts)
  const sum = counts.input_tokens + counts.output_tokens
  if (!isRest && gap && counts.total !== sum) issues.push(totalMismatch(counts.total!, sum, habits.path))
}

/**
 * The addends that are beside without a total that says so. `isSum`: the total is the sum of the sides, so that only
 * details that exceed their side are beside, and with them those of the same side that are beside by habit.
 */
function besideByHabit(addends: readonly Addend[], counts: SentCounts, isSum: boolean): Addend[] {
  const exceeding = addends.filter((it) => exceeds(it, addends, counts))
  if (isSum && exceeding.length === 0) return exceeding
  return addends.filter(
    (it) =>
      exceeding.includes(it) || (it.isBeside && (!isSum || exceeding.some(({ side }) => side === it.side))),
  )
}

/** Whether the addend is more than its side. Cache tokens are compared together. */
function exceeds({ side, name, count }: Addend, addends: readonly Addend[], counts: SentCounts): boolean {
  let sum = name === 'cache' ? 0 : count
  if (name === 'cache') for (const it of addends) if (it.name === 'cache') sum += it.count
  return sum > (side === 'input' ? counts.input_tokens : counts.output_tokens)
}

/** The addends whose sum is the gap; of several such sets the one that is nearest to the habit. */
function explain(gap: number, addends: readonly Addend[]): Addend[] | undefined {
  if (gap <= 0) return gap === 0 ? [] : undefined
  let best: Addend[] | undefined
  let least = Number.POSITIVE_INFINITY
  for (let bits = 1; bits < 2 ** addends.length; bits++) {
    const chosen = addends.filter((_, i) => (bits & (1 << i)) !== 0)
    if (chosen.reduce((sum, { count }) => sum + count, 0) !== gap) continue
    const odd = addends.filter((it) => it.isBeside !== chosen.includes(it)).length
    if (odd < least) [best, least] = [chosen, odd]
  }
  return best
}

function addendsOf(counts: SentCounts, { beside }: CountingHabits): Addend[] {
  const { input_token_details: input, output_token_details: output } = counts
  const addends: Addend[] = []
  if (isEmpty(input) && isEmpty(output)) return addends
  const add = (side: Addend['side'], name: Addend['name'], count: number, isBeside: boolean): void => {
    if (count > 0 && addends.length < MOST_ADDENDS) addends.push({ side, name, count, isBeside })
  }
  const written = Math.max(writtenOf(input), lifetimesOf(input))
  add('input', 'cache', input['cache_read'] ?? 0, beside.has('input.cache_read'))
  if (written > 0)
    add(
      'input',
      'cache',
      written,
      beside.has('input.cache_creation') || BESIDE_LIFETIMES.some((name) => beside.has(name)),
    )
  add('output', 'reasoning', output['reasoning'] ?? 0, beside.has('output.reasoning'))
  add('input', 'other', input['tool_use'] ?? 0, beside.has('input.tool_use'))
  add('output', 'other', output['citation'] ?? 0, beside.has('output.citation'))
  for (const name of beside) {
    const [side, key] = name.split('.') as ['input' | 'output', string]
    if (!OWN_ADDEND.has(key)) add(side, 'other', counts[`${side}_token_details`][key] ?? 0, true)
  }
  return addends
}

function isEmpty(details: Readonly<Record<string, number>>): boolean {
  for (const _ in details) return false
  return true
}

/** Cache writes by lifetime. */
export const LIFETIMES = ['5m', '30m', '1h', '12h'].map((time) => `ephemeral_${time}_input_tokens`)
const BESIDE_LIFETIMES = LIFETIMES.map((key) => `input.${key}`)
const OWN_ADDEND: ReadonlySet<string> = new Set([
  'cache_read',
  'cache_creation',
  ...LIFETIMES,
  'reasoning',
  'tool_use',
  'citation',
])

const KINDS = ['text', 'audio', 'image', 'video', 'document'] as const

/** The tokens of all kinds of content; undefined if none is told. */
export function kindsOf(details: Readonly<Record<string, number>>): number | undefined {
  const counts = KINDS.flatMap((kind) => details[kind] ?? [])
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0)
}

/** Adds kinds of content that are more than their side, which therefore does not include them (rule U4). */
function addExceedingKinds(counts: SentCounts): void {
  for (const side of ['input', 'output'] as const) {
    const details = counts[`${side}_token_details`]
    const whole = counts[`${side}_tokens`]
    for (const kind of KINDS) {
      const count = details[kind] ?? 0
      if (count > whole) counts[`${side}_tokens`] += count
    }
  }
}

function writtenOf(input: Readonly<Record<string, number>>): number {
  return input['cache_creation'] ?? input['cache_write'] ?? 0
}

/** Cache writes whose lifetime is known. */
export function lifetimesOf(input: Readonly<Record<string, number>>): number {
  let sum = 0
  for (const key of LIFETIMES) sum += input[key] ?? 0
  return sum
}

function addAll(
  counts: SentCounts,
  added: readonly Addend[],
  { path }: CountingHabits,
  issues: Issue[],
): void {
  if (added.length === 0) return
  const input = counts.input_tokens
  for (const { side, count } of added) counts[`${side}_tokens`] += count
  const unusual = (name: Addend['name']): number =>
    added.filter((it) => it.name === name && !it.isBeside).reduce((sum, { count }) => sum + count, 0)
  if (unusual('reasoning') > 0) issues.push(reasoningAdded(unusual('reasoning'), path))
  if (unusual('cache') > 0) issues.push(cacheAdded(unusual('cache'), input))
}

function cacheAdded(cached: number, input: number): Issue {
  return {
    code: 'cache_added',
    severity: 'info',
    path: 'usage_metadata.input_tokens',
    message: `The ${cached} cache tokens were counted beside the ${input} input tokens and have been added.`,
    fix: 'Send input_tokens with cache tokens included.',
  }
}

function reasoningAdded(reasoning: number, path: string): Issue {
  return {
    code: 'reasoning_added',
    severity: 'info',
    path: `${path}.output_tokens`,
    message: `The ${reasoning} reasoning tokens were outside output_tokens and have been added.`,
  }
}

function totalMismatch(total: number, sum: number, path: string): Issue {
  const difference = Math.abs(total - sum)
  return {
    code: 'total_mismatch',
    severity: 'warning',
    path: `${path}.total_tokens`,
    message: `total_tokens ${total} is not input plus output (${sum}), and no detail explains the ${difference} tokens between; the sum is used.`,
    fix: 'Send total_tokens as input_tokens plus output_tokens, or leave it out.',
  }
}

/**
 * Adds the tokens by which Gemini's total exceeds input plus output. They are thoughts, which are billed as output.
 * If the thoughts are already counted, they are tool results in the prompt, which are billed as input.
 */
function countRest(counts: SentCounts, rest: number, path: string): Issue {
  const reasoning = counts.output_token_details['reasoning'] ?? 0
  const beside = reasoning > counts.output_tokens && rest >= reasoning ? reasoning : 0
  const thoughts = reasoning === 0 ? rest : beside
  counts.output_tokens += thoughts
  counts.input_tokens += rest - thoughts
  if (thoughts > 0) counts.output_token_details['reasoning'] = thoughts
  const sides = [
    ...(thoughts > 0 ? [`${thoughts} as output (thoughts)`] : []),
    ...(rest > thoughts ? [`${rest - thoughts} as input (what tools found)`] : []),
  ]
  return restCounted(rest, sides.join(' and '), `${path}.total_tokens`)
}

/** The issue about tokens of a total beyond input and output; `how` describes how they are counted. */
export function restCounted(rest: number, how: string, path: string): Issue {
  return {
    code: 'rest_counted',
    severity: 'warning',
    path,
    message: `The total has ${rest} tokens more than input plus output; they are counted ${how}.`,
    fix: 'Include thoughts in output_tokens, and prompts of tools in input_tokens.',
  }
}
