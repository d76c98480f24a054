import { addDecimals, subtractDecimals } from '../../parts/format/decimal.ts'
import type { Figures } from './figures.ts'

/** Figures that add up over groups. */
type Sums = Pick<Figures, 'run_count' | 'total_tokens' | 'total_cost'>

/** What is left of the sums of a whole without those of its groups. A cost is null when none is known. */
export function withoutGroups(whole: Sums, groups: readonly Sums[]): Sums {
  const rest = (name: 'run_count' | 'total_tokens'): number =>
    groups.reduce((left, group) => left - group[name], whole[name])
  const known = groups.flatMap(({ total_cost }) => total_cost ?? [])
  const { total_cost } = whole
  return {
    run_count: rest('run_count'),
    total_tokens: rest('total_tokens'),
    total_cost:
      total_cost === null ? null : (subtractDecimals(total_cost, addDecimals(known) ?? '0') ?? null),
  }
}
