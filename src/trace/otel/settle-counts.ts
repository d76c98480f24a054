import type { Issue } from '../../schema/issue.ts'
import type { JsonObject, JsonValue } from '../../schema/json.ts'
import { asNumber } from './span-view.ts'
import type { UsageDetails } from './usage-details.ts'

/** What one place of the span says; counts as sent. */
export interface Claimed {
  path: string
  input: JsonValue | undefined
  output: JsonValue | undefined
  total: JsonValue | undefined
}

/** The count that won, and one that lost against it. */
export interface Settled {
  value: JsonValue
  path: string
  rival?: { value: JsonValue; path: string }
}

/**
 * The input count among claims that may disagree (rule N5): the one that is the sum of its parts; else, of two that
 * differ by exactly the cache tokens, the one that holds them once; else the one that fits its own total; else the
 * first.
 */
export function settleInput(claims: readonly Claimed[], details: UsageDetails): Settled | undefined {
  const { cached, uncached } = details
  const whole = uncached === undefined ? undefined : uncached + cached
  return settle(claims, 'input', (a, b) => {
    if (whole !== undefined && (a.count === whole) !== (b.count === whole)) return a.count === whole ? a : b
    const [less, more] = a.count < b.count ? [a, b] : [b, a]
    if (cached > 0 && more.count - less.count === cached) return less.count >= cached ? less : more
    return byTotal(a, b)
  })
}

/** The output count among claims that may disagree: the one that fits its own total, else the first. */
export function settleOutput(claims: readonly Claimed[]): Settled | undefined {
  return settle(claims, 'output', byTotal)
}

/** True when a claim has both counts that were settled on. */
export function countsInOne(claim: Claimed, settled: JsonObject): boolean {
  return claim.input === settled['input_tokens'] && claim.output === settled['output_tokens']
}

export function countConflict({ value, path, rival }: Settled): Issue {
  return {
    code: 'usage_conflict',
    severity: 'warning',
    path: rival!.path,
    message: `This says ${String(rival!.value)} tokens, ${path} says ${String(value)}; the latter fits its parts and is used.`,
    fix: 'Send one count, with cache and reasoning tokens included.',
  }
}

interface Candidate {
  claim: Claimed
  count: number
}

function settle(
  claims: readonly Claimed[],
  side: 'input' | 'output',
  better: (a: Candidate, b: Candidate) => Candidate,
): Settled | undefined {
  let best: Candidate | undefined
  let rival: Candidate | undefined
  let odd: Claimed | undefined
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
  // What is no count goes on as it came, so that rule N1 says so.
  if (best === undefined) return odd && { value: odd[side]!, path: odd.path }
  const won = { value: best.claim[side]!, path: best.claim.path }
  return rival === undefined ? won : { ...won, rival: { value: rival.claim[side]!, path: rival.claim.path } }
}

function byTotal(a: Candidate, b: Candidate): Candidate {
  return fitsTotal(b.claim) && !fitsTotal(a.claim) ? b : a
}

function fitsTotal({ input, output, total }: Claimed): boolean {
  const [i, o, t] = [asNumber(input), asNumber(output), asNumber(total)]
  return i !== undefined && o !== undefined && t !== undefined && i + o === t
}
