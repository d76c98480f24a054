import type { ListedRun } from '../../data/run-pages.ts'
import { useUsualLatencies } from '../../data/projects/usual-latencies.ts'
import { durationText, UNKNOWN } from '../../parts/format/numbers.ts'
import { microsBetween } from '../../parts/format/times.ts'
import css from './project.module.css'

/** A run that took at least this many times as long as usual is marked. */
const MUCH_SLOWER = 2

/** `×1.8`: the latency of a run divided by the median latency of the runs with its name. */
export function ratioText(ratio: number): string {
  return `×${ratio >= 10 ? Math.round(ratio) : Number(ratio.toPrecision(2))}`
}

/** The latency of a run beside the median of its name. All rows of a list share one read. */
export function Deviation({ run }: { run: ListedRun }) {
  const { data } = useUsualLatencies(run.session_id ?? '')
  const latency = microsBetween(run.start_time, run.end_time)
  const usual = data?.get(run.name)
  if (latency === undefined || usual === undefined || usual === 0) return UNKNOWN
  const ratio = latency / (usual * 1e6)
  return (
    <span
      className={ratio >= MUCH_SLOWER ? css['slow'] : undefined}
      title={`Half of the runs named “${run.name}” took at most ${durationText(Math.round(usual * 1e6))} in the last 7 days`}
    >
      {ratioText(ratio)}
    </span>
  )
}
