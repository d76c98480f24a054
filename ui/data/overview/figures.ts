import type { TraceRunFiguresRead, TraceRunStatsBucket } from '../../api/platform.gen.ts'

/** Figures of some runs; null where no run has a value. */
export type Figures = TraceRunFiguresRead

export interface OverviewFigures {
  /** Figures of all runs of the range. */
  all: Figures
  failed: number
  /** Figures of each group in the whole range, the largest first; empty without groups. */
  groups: ReadonlyMap<string, { figures: Figures; failed: number | undefined }>
  /** Figures of each bucket that has runs. With groups, there are figures of each group in each bucket. */
  buckets: readonly TraceRunStatsBucket[]
  failures: readonly TraceRunStatsBucket[]
  /**
   * Figures of each bucket with all groups together. Empty without groups, and for groupings in which a run may be in
   * several groups.
   */
  totals: readonly TraceRunStatsBucket[]
}

export const CHECKS = ['run_type', 'format', 'model', 'usage'] as const
export type CheckName = (typeof CHECKS)[number]

/** Model calls, and how many of them fail each check. */
export interface CheckCounts {
  calls: number
  failed: Readonly<Record<CheckName, number>>
}

/** Counts model calls, and those that fail each check, from the numbers of calls that pass. */
export function countsOfChecks({ llm_runs: calls, ...held }: Figures['checks']): CheckCounts {
  const failed = (check: CheckName): number => calls - held[check]
  return {
    calls,
    failed: {
      run_type: failed('run_type'),
      format: failed('format'),
      model: failed('model'),
      usage: failed('usage'),
    },
  }
}

/** Subtracts the counts of `others` from those of the whole. */
export function withoutCounts(whole: CheckCounts, others: readonly CheckCounts[]): CheckCounts {
  const rest = (check: CheckName): number =>
    others.reduce((left, { failed }) => left - failed[check], whole.failed[check])
  return {
    calls: others.reduce((left, { calls }) => left - calls, whole.calls),
    failed: {
      run_type: rest('run_type'),
      format: rest('format'),
      model: rest('model'),
      usage: rest('usage'),
    },
  }
}
