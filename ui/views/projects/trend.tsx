import type { ProjectTrend } from '../../data/projects/project-trends.ts'
import { countText, shareText, UNKNOWN } from '../../parts/format/numbers.ts'
import { Link } from '../../router/link.tsx'
import css from './projects.module.css'

const [WIDTH, HEIGHT, GAP] = [112, 20, 1]

/** Traces of the last seven days as small bars, which open the overview of these days. */
export function Sparkline({ project, trend }: { project: string; trend: ProjectTrend | undefined }) {
  if (trend === undefined) return null
  const { traces } = trend
  const most = Math.max(1, ...traces)
  const slot = WIDTH / traces.length
  const sum = traces.reduce((all, one) => all + one, 0)
  const text = `${countText(sum)} traces in the last 7 days`
  return (
    <Link to={`/projects/${project}?view=overview&t=7d`} className={css['spark']} title={text}>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} role="img" aria-label={text}>
        <path className={css['ground']} d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} />
        {traces.map((count, place) => {
          const height = count === 0 ? 0 : Math.max(1.5, (count / most) * (HEIGHT - 1))
          return (
            <rect
              key={place}
              x={place * slot}
              y={HEIGHT - height}
              width={Math.max(1, slot - GAP)}
              height={height}
            />
          )
        })}
      </svg>
    </Link>
  )
}

/** The share of model calls that pass all four checks. It opens the calls that fail one. */
export function GoodCalls({ project, trend }: { project: string; trend: ProjectTrend | undefined }) {
  if (trend === undefined || trend.calls === 0)
    return <span title="No model call in the last 7 days">{UNKNOWN}</span>
  const { calls, good } = trend
  const text = `${countText(good)} of ${countText(calls)} model calls of the last 7 days meet all four checks`
  if (good === calls) return <span title={text}>{shareText(1)}</span>
  const failed =
    'or(eq(check_run_type, false), eq(check_format, false), eq(check_model, false), eq(check_usage, false))'
  return (
    <Link to={`/projects/${project}?view=runs&t=7d&q=${encodeURIComponent(failed)}`} title={text}>
      {shareText(Math.min(good / calls, 0.999))}
    </Link>
  )
}
