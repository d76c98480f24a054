import { Splitter, type useKeptShare } from '../../../parts/splitter/splitter.tsx'
import css from '../trace.module.css'
import { tickText, ticksOf, type ZoomRange } from '../zoom.ts'

/** The place of names and bars together, without the columns of numbers after them. */
function namesAndBars(splitter: Element): { left: number; width: number } {
  const { left } = splitter.closest('[data-axis]')?.getBoundingClientRect() ?? { left: 0 }
  const { right } = splitter.parentElement?.getBoundingClientRect() ?? { right: 1 }
  return { left, width: right - left }
}

/** The times above the bars, and the edge between names and bars. Screen readers get the times from the rows instead. */
export function Axis({ range, names }: { range: ZoomRange; names: ReturnType<typeof useKeptShare> }) {
  const width = range.to - range.from
  return (
    <div className={css['axis']} data-axis="">
      <span />
      <div className={css['track']}>
        <Splitter label="Width of the names" share={names} frame={namesAndBars} className={css['edge']} />
        {ticksOf(range).map((time) => (
          <span key={time} aria-hidden="true" style={{ left: `${((time - range.from) / width) * 100}%` }}>
            {tickText(time)}
          </span>
        ))}
      </div>
    </div>
  )
}
