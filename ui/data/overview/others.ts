import { addDecimals, subtractDecimals } from '../../parts/format/decimal.ts'
import type { Figures } from './figures.ts'

/** Figures that add up over groups. */
type Sums = Pick<Figures, 'run_count' | 'total_tokens' | 'total_cost'>

/** What is left of the sums of a whole without those of its groups. Tokens or a cost are null when none are known. */
export function withoutGroups(whole: Sums, groups: readonly Sums[]): Sums {
  const known = groups.flatMap(({ total_cost }) => total_cost ?? [])
  const { run_count, total_tokens, total_cost } = whole
  return {
    run_count: groups.reduce((left, group) => left - group.run_count, run_count),
    total_tokens:
      total_tokens === null
        ? null
        : groups.reduce((left, group) => left - (group.total_tokens ?? 0), total_tokens),
    total_cost:
      total_cost === null ? null : (subtractDecimals(total_cost, addDecimals(known) ?? '0') ?? null),
  }
}
