import css from '../trace.module.css'
import { tickText, ticksOf, type ZoomRange } from '../zoom.ts'

/** The times above the bars. Screen readers get the times from the rows instead. */
export function Axis({ range }: { range: ZoomRange }) {
  const width = range.to - range.from
  return (
    <div className={css['axis']} aria-hidden="true">
      <span />
      <span className={css['track']}>
        {ticksOf(range).map((time) => (
          <span key={time} style={{ left: `${((time - range.from) / width) * 100}%` }}>
            {tickText(time)}
          </span>
        ))}
      </span>
    </div>
  )
}
