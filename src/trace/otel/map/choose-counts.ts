import type { Issue } from '../../../schema/issue.ts'
import type { JsonObject, JsonValue } from '../../../schema/json.ts'
import { asNumber } from '../span/view.ts'
import type { UsageDetails } from './usage-details.ts'

/** The counts in one place of the span, as sent. */
export interface SentCounts {
  path: string
  input: JsonValue | undefined
  output: JsonValue | undefined
  total: JsonValue | undefined
}

/** The chosen count, and a count that disagrees with it. */
export interface ChosenCount {
  value: JsonValue
  path: string
  rival?: { value: JsonValue; path: string }
}

/**
 * The input count among claims that may disagree (rule N5). The first of these rules that applies decides:
 * the claim that is the sum of its parts; of two claims that differ by exactly the cache tokens, the one that
 * includes them; the claim that is consistent with its own total; the first claim.
 */
export function chooseInputCount(
  claims: readonly SentCounts[],
  details: UsageDetails,
): ChosenCount | undefined {
  const { cached, uncached } = details
  const whole = uncached === undefined ? undefined : uncached + cached
  return chooseCount(claims, 'input', (a, b) => {
    if (whole !== undefined && (a.count === whole) !== (b.count === whole)) return a.count === whole ? a : b
    const [less, more] = a.count < b.count ? [a, b] : [b, a]
    if (cached > 0 && more.count - less.count === cached) return less.count >= cached ? less : more
    return byTotal(a, b)
  })
}

/**
 * The output count among claims that may disagree: the one that is consistent with its own total, otherwise
 * the first.
 */
export function chooseOutputCount(claims: readonly SentCounts[]): ChosenCount | undefined {
  return chooseCount(claims, 'output', byTotal)
}

/** Whether one claim has both chosen counts. */
export function countsInOne(claim: SentCounts, settled: JsonObject): boolean {
  return claim.input === settled['input_tokens'] && claim.output === settled['output_tokens']
}

export function countConflict({ value, path, rival }: ChosenCount): Issue {
  return {
    code: 'usage_conflict',
    severity: 'warning',
    path: rival!.path,
    message: `This says ${String(rival!.value)} tokens, ${path} says ${String(value)}; the latter fits its parts and is used.`,
    fix: 'Send one count, with cache and reasoning tokens included.',
  }
}

interface Candidate {
  claim: SentCounts
  count: number
}

function chooseCount(
  claims: readonly SentCounts[],
  side: 'input' | 'output',
  better: (a: Candidate, b: Candidate) => Candidate,
): ChosenCount | undefined {
  let best: Candidate | undefined
  let rival: Candidate | undefined
  let odd: SentCounts | undefined
  for (const claim of claims) {
    if (claim[side] === undefined || claim[side] === null) continue
    const count = asNumber(claim[side])
    if (count === undefined || count < 0) {
      odd ??= claim
      continue
    }
    const candidate = { claim, count }
    if (best === undefined) best = candidate
    else if (count !== best.count) {
      const winner = better(best, candidate)
      rival = winner === best ? candidate : best
      best = winner
    }
  }
  // A value that is not a count is returned unchanged, so that rule N1 reports it.
  if (best === undefined) return odd && { value: odd[side]!, path: odd.path }
  const won = { value: best.claim[side]!, path: best.claim.path }
  return rival === undefined ? won : { ...won, rival: { value: rival.claim[side]!, path: rival.claim.path } }
}

function byTotal(a: Candidate, b: Candidate): Candidate {
  return fitsTotal(b.claim) && !fitsTotal(a.claim) ? b : a
}

function fitsTotal({ input, output, total }: SentCounts): boolean {
  const [i, o, t] = [asNumber(input), asNumber(output), asNumber(total)]
  return i !== undefined && o !== undefined && t !== undefined && i + o === t
}
