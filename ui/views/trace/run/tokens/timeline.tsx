import { useMemo } from 'react'
import type { ReadRun } from '../../../../data/runs.ts'
import { tokenRhythm } from './rhythm.ts'
import { countText, durationText } from '../../../../parts/format/numbers.ts'
import css from '../run.module.css'

const WIDTH = 1000
const HEIGHT = 28

/** The time at which each token of a streamed call arrived, with the pauses between them. */
export function TokenTimeline({ run }: { run: ReadRun }) {
  const rhythm = useMemo(() => tokenRhythm(run), [run])
  if (rhythm === undefined) return null
  const { times, median, longest, stalls } = rhythm
  const [first = 0, last = 0] = [times.at(0), times.at(-1)]
  const x = (time: number): number => (last === 0 ? 0 : (time / last) * WIDTH)
  // Tokens of the same pixel are drawn once.
  const ticks = [...new Set(times.map((time) => Math.round(x(time))))]
  const stalled =
    stalls.length === 0 ? 'no stall' : `${stalls.length} ${stalls.length === 1 ? 'stall' : 'stalls'}`
  return (
    <figure className={css['rhythm']}>
      <figcaption>
        {countText(times.length)} tokens from {durationText(first)} to {durationText(last)} after the start;
        median pause {durationText(median)}, {stalled}
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {stalls.map(({ at, length }) => (
          <rect key={at} x={x(at)} width={x(length)} height={HEIGHT} />
        ))}
        <path d={ticks.map((tick) => `M${tick} 4V${HEIGHT - 4}`).join('')} />
      </svg>
      <table className={css['table']}>
        <thead>
          <tr>
            <th scope="col">Longest pauses</th>
            <th scope="col">After the start</th>
            <th scope="col">Tokens before</th>
          </tr>
        </thead>
        <tbody>
          {longest.map(({ at, length, after }) => (
            <tr key={after}>
              <td>{durationText(length)}</td>
              <td>{durationText(at)}</td>
              <td>{countText(after)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}
