import type { CallFigures } from '../../data/playground/figures.ts'
import { UNKNOWN } from '../../parts/format/numbers.ts'
import { linesOf } from './figure-lines.ts'
import css from './playground.module.css'

/** The figures of a call, and how they differ from those of the source run. */
export function FiguresTable({
  name,
  figures,
  source,
  isCostKnownLater = false,
}: {
  name: string
  figures: CallFigures
  source?: CallFigures | undefined
  /** True while the trace is not stored: an unknown cost may become known. */
  isCostKnownLater?: boolean
}) {
  return (
    <table className={css['figures']} aria-label={`Figures of ${name}`}>
      <tbody>
        {linesOf(figures, source).map(({ title, value, exact, difference }) => (
          <tr key={title}>
            <th scope="row">{title}</th>
            <td title={exact}>
              {title === 'Cost' && isCostKnownLater && value === UNKNOWN ? 'being stored' : value}
            </td>
            {source !== undefined && (
              <td data-sign={difference?.sign} title="Compared with the source run">
                {difference?.text ?? UNKNOWN}
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
