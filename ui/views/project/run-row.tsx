import type { ListedRun } from '../../data/run-pages.ts'
import { navigate } from '../../router/location.ts'
import { pathOf, type RunColumn } from './columns.tsx'
import css from './project.module.css'

/** One run as a row that opens its trace, or shows it in the panel beside the list while that is open. */
export function RunRow({
  run,
  columns,
  isMarked,
  isTicked,
  tick,
  peek,
  index,
}: {
  run: ListedRun
  columns: readonly RunColumn[]
  isMarked: boolean
  isTicked: boolean
  tick(id: string, isRange: boolean): void
  peek: ((id: string) => void) | undefined
  index: number
}) {
  // The name is a link, for the keyboard and new tabs; a click anywhere else in the row is an action too.
  const open = (): void => (peek === undefined ? navigate(pathOf(run)) : peek(run.id))
  return (
    <div
      onClick={(event) => event.defaultPrevented || event.metaKey || event.ctrlKey || open()}
      className={css['row']}
      role="row"
      aria-rowindex={index + 2}
      data-marked={isMarked}
      data-run={run.id}
    >
      <span role="cell">
        <label className={css['tick']} onClick={(event) => event.stopPropagation()}>
          <input
            type="checkbox"
            aria-label={`Tick ${run.name}`}
            checked={isTicked}
            onChange={({ nativeEvent }) =>
              tick(run.id, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
            }
          />
        </label>
      </span>
      {columns.map(({ id, isNumber = false, look, cell }) => (
        <span key={id} role="cell" className={isNumber ? css['number'] : look}>
          {cell(run)}
        </span>
      ))}
    </div>
  )
}
