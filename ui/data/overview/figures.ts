import type { TraceRunFiguresRead, TraceRunStatsBucket } from '../../api/platform.gen.ts'

/** Figures of some runs; null where no run has a value. */
export type Figures = TraceRunFiguresRead

/** What an overview shows. */
export interface OverviewFigures {
  /** Figures of all runs of the range. */
  all: Figures
  failed: number
  /** Figures of each group in the whole range, the largest first; empty without groups. */
  groups: ReadonlyMap<string, { figures: Figures; failed: number | undefined }>
  /** Figures of each bucket that has runs. With groups, those of each group in the bucket. */
  buckets: readonly TraceRunStatsBucket[]
  failures: readonly TraceRunStatsBucket[]
}
