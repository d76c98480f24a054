import { memo } from 'react'
import type { Outline } from '../../../data/outline.ts'
import { isParent, type Tree } from '../../../data/tree.ts'
import { columnDuration, durationText } from '../../../parts/format/numbers.ts'
import { previewText } from '../../../parts/format/preview-text.ts'
import { Icon, TypeIcon, typeLook } from '../../../parts/icon.tsx'
import { MoneyCell } from '../../../parts/money.tsx'
import css from '../trace.module.css'
import { barOf, type ZoomRange } from '../zoom.ts'

const GUIDE_PX = 16
/** Levels that are indented. Deeper rows show their level as a number, because names would have no room. */
const MOST_GUIDES = 8
const percent = (share: number): string => `${share * 100}%`

interface TreeRowProps {
  /** Calls without a price, of the run and of those below it. */
  unpriced: number
  outline: Outline
  /** What the run was asked or answered; '' while it is not known. */
  words: string
  /** Number of comments on the run. */
  comments: number
  tree: Tree
  position: number
  top: number
  /** End of the run or of the last run below it: microseconds from the beginning of the trace. */
  subtreeEnd: number
  range: ZoomRange
  isSelected: boolean
  isFolded: boolean
  isDim: boolean
  /** True for a run that is marked as part of the critical path. */
  isCritical: boolean
}

/** The id of a row's element, by the position of its run. */
export function rowId(position: number): string {
  return `row-${position}`
}

/** Returns the time from the end of a run to the end of the last run below it, in microseconds; at least 0. */
function timeAfter(outline: Outline, place: number, subtreeEnd: number): number {
  const duration = outline.durations[place] ?? Number.NaN
  return Number.isNaN(duration) ? 0 : Math.max(0, subtreeEnd - (outline.starts[place] ?? 0) - duration)
}

interface BarProps {
  outline: Outline
  place: number
  subtreeEnd: number
  range: ZoomRange
}

function Bar({ outline, place, subtreeEnd, range }: BarProps) {
  const start = outline.starts[place] ?? 0
  const duration = outline.durations[place] ?? Number.NaN
  const isRunning = Number.isNaN(duration)
  const isOutlived = timeAfter(outline, place, subtreeEnd) > 0
  const after = isOutlived ? barOf(start + duration, subtreeEnd, range) : undefined
  const bar = barOf(start, isRunning ? outline.span : start + duration, range)
  const firstToken = start + (outline.firstTokens[place] ?? Number.NaN)
  const tick = Number.isNaN(firstToken) ? undefined : barOf(firstToken, firstToken, range)
  const background =
    outline.statuses[place] === 'error' ? 'var(--error)' : typeLook(outline.types[place] ?? '').color
  return (
    <span className={css['track']} aria-hidden="true">
      {bar !== undefined && (
        <span
          className={css['span']}
          data-running={isRunning}
          style={{ left: percent(bar.left), width: percent(bar.width), backgroundColor: background }}
        />
      )}
      {after !== undefined && (
        <span
          className={css['after']}
          style={{ left: percent(after.left), width: percent(after.width), backgroundColor: background }}
        />
      )}
      {tick !== undefined && <span className={css['tick']} style={{ left: percent(tick.left) }} />}
    </span>
  )
}

function labelOf(outline: Outline, place: number, subtreeEnd: number): string {
  const duration = outline.durations[place] ?? Number.NaN
  const firstToken = outline.firstTokens[place] ?? Number.NaN
  const after = timeAfter(outline, place, subtreeEnd)
  const parts = [
    outline.names[place],
    outline.types[place],
    outline.statuses[place],
    `starts at ${durationText(outline.starts[place])}`,
    Number.isNaN(duration) ? 'has not ended' : `took ${durationText(duration)}`,
    after === 0 ? undefined : `the runs below it went on for ${durationText(after)}`,
    Number.isNaN(firstToken) ? undefined : `first token after ${durationText(firstToken)}`,
  ]
  return parts.filter(Boolean).join(', ')
}

/** One run of the tree with its bar. */
export const TreeRow = memo(function TreeRow(props: TreeRowProps) {
  const { outline, unpriced, words, comments, tree, position, top, subtreeEnd, range } = props
  const { isSelected, isFolded, isDim, isCritical } = props
  const place = tree.order[position] ?? 0
  const depth = tree.depths[position] ?? 0
  const duration = outline.durations[place] ?? Number.NaN
  const hasChildren = isParent(tree, position)
  const isError = outline.statuses[place] === 'error'
  const cost = outline.costs[place]
  const label = labelOf(outline, place, subtreeEnd)
  return (
    <div
      id={rowId(position)}
      className={css['row']}
      role="row"
      data-position={position}
      data-dim={isDim}
      data-critical={isCritical}
      aria-label={isCritical ? `${label}, on the critical path` : label}
      aria-level={depth + 1}
      aria-posinset={tree.numbers[position]}
      aria-setsize={tree.siblings[position]}
      aria-selected={isSelected}
      aria-expanded={hasChildren ? !isFolded : undefined}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span role="gridcell" className={css['name']}>
        <span className={css['guides']} style={{ width: Math.min(depth, MOST_GUIDES) * GUIDE_PX }} />
        {depth > MOST_GUIDES && <span className={css['level']}>{depth}</span>}
        <span className={css['fold']} data-fold={hasChildren}>
          {hasChildren && <Icon name={isFolded ? 'open' : 'fold'} />}
        </span>
        <TypeIcon type={outline.types[place] ?? ''} />
        {isError && <Icon name="error" color="var(--error)" label="error" />}
        <span className={isError ? css['failed'] : undefined}>{outline.names[place]}</span>
        {comments > 0 && (
          <span className={css['comments']} title={comments === 1 ? '1 comment' : `${comments} comments`}>
            <Icon name="prompt" /> {comments}
          </span>
        )}
        {words !== '' && (
          <span className={css['words']} dir="auto" title={words}>
            {previewText(words)}
          </span>
        )}
      </span>
      <Bar {...{ outline, place, subtreeEnd, range }} />
      <span role="gridcell" className={css['number']}>
        {columnDuration(Number.isNaN(duration) ? undefined : duration)}
      </span>
      <span role="gridcell" className={`${css['number']} ${css['muted']} ${css['cost']}`}>
        {(cost !== undefined || unpriced > 0) && <MoneyCell value={cost} unpriced={unpriced} />}
      </span>
    </div>
  )
})
