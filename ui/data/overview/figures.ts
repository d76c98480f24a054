import type { TraceRunFiguresRead, TraceRunStatsBucket } from '../../api/platform.gen.ts'

/** Figures of some runs; null where no run has a value. */
export type Figures = TraceRunFiguresRead

/** What an overview shows. */
export interface OverviewFigures {
  /** Of all runs of the range. */
  all: Figures
  failed: number
  /** Of each group in the whole range, the largest first; empty without groups. */
  groups: ReadonlyMap<string, { figures: Figures; failed: number | undefined }>
  /** Of each bucket that has runs; with groups, of each group in it. */
  buckets: readonly TraceRunStatsBucket[]
  failures: readonly TraceRunStatsBucket[]
}
