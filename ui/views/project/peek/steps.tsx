import { useMemo } from 'react'
import type { Outline } from '../../../data/outline.ts'
import type { ListedRun } from '../../../data/run-pages.ts'
import { useStillOutline } from '../../../data/traces.ts'
import { useRunWords } from '../../../data/trace/run-words.ts'
import { buildTree } from '../../../data/tree.ts'
import { columnDuration, countText } from '../../../parts/format/numbers.ts'
import { previewText } from '../../../parts/format/preview-text.ts'
import { Icon, TypeIcon } from '../../../parts/icon.tsx'
import { Loaded } from '../../../parts/states.tsx'
import { Link } from '../../../router/link.tsx'
import { pathOf } from '../columns.tsx'
import css from './peek.module.css'

/** Steps that are shown at most; failed ones after them are shown too, as many again. */
const MOST_STEPS = 40
const INDENT_PX = 12
const MOST_INDENTS = 6

/** Positions of the first steps below the root, and of further ones that failed. */
function shownSteps(outline: Outline, order: Int32Array): number[] {
  const positions = Array.from({ length: outline.ids.length }, (_, position) => position).slice(1)
  const failed = positions
    .slice(MOST_STEPS)
    .filter((position) => outline.statuses[order[position] ?? -1] === 'error')
  return [...positions.slice(0, MOST_STEPS), ...failed.slice(0, MOST_STEPS)]
}

function StepList({ run, outline }: { run: ListedRun; outline: Outline }) {
  const tree = useMemo(() => buildTree(outline.parents), [outline.parents])
  const shown = useMemo(() => shownSteps(outline, tree.order), [outline, tree])
  const ids = useMemo(() => [...tree.order].map((place) => outline.ids[place] ?? ''), [outline.ids, tree])
  const list = { trace: outline.trace_id, version: outline.version, ids }
  const words = useRunWords(list, { from: 0, to: MOST_STEPS })
  const path = pathOf(run)
  const left = outline.run_count - 1 - shown.length
  return (
    <>
      <ol className={css['steps']}>
        {shown.map((position) => {
          const place = tree.order[position] ?? 0
          const duration = outline.durations[place] ?? Number.NaN
          const isError = outline.statuses[place] === 'error'
          const to = path.replace(/run=[^&]*/, `run=${outline.ids[place]}`)
          return (
            <li
              key={position}
              style={{
                paddingInlineStart: Math.min((tree.depths[position] ?? 1) - 1, MOST_INDENTS) * INDENT_PX,
              }}
            >
              <TypeIcon type={outline.types[place] ?? ''} />
              {isError && <Icon name="error" color="var(--error)" label="failed" />}
              <Link to={to} className={isError ? css['failed'] : undefined}>
                {outline.names[place]}
              </Link>
              <span className={css['words']} dir="auto" title={words.get(outline.ids[place] ?? '')}>
                {previewText(words.get(outline.ids[place] ?? '') ?? '')}
              </span>
              <span className={css['time']}>
                {columnDuration(Number.isNaN(duration) ? undefined : duration)}
              </span>
            </li>
          )
        })}
      </ol>
      {left > 0 && (
        <p>
          <Link to={path}>{countText(left)} further steps</Link>
        </p>
      )}
    </>
  )
}

/** The runs of a trace in their order: the first of them, and those that failed. */
export function Steps({ run }: { run: ListedRun }) {
  const outline = useStillOutline(run.trace_id)
  return <Loaded from={outline}>{(found) => <StepList run={run} outline={found} />}</Loaded>
}
