import { useVirtualizer } from '@tanstack/react-virtual'
import { type MouseEvent, useEffect, useMemo, useRef } from 'react'
import { useCommentCounts } from '../../../data/comments/comments.ts'
import { subtreeEnds } from '../../../data/trace/critical-path.ts'
import type { Outline } from '../../../data/outline.ts'
import { useRunWords } from '../../../data/trace/run-words.ts'
import type { Tree } from '../../../data/tree.ts'
import { rowHeight } from '../../../parts/row-height.ts'
import css from '../trace.module.css'
import { rowId, TreeRow } from './row.tsx'
import type { ZoomRange } from '../zoom.ts'

const OVERSCAN = 10

/** The data and the state of the grid. */
export interface Drawn {
  outline: Outline
  /** For each place, the calls without a price. */
  unpriced: Int32Array
  tree: Tree
  /** Positions of the rows, in order. */
  rows: readonly number[]
  folded: ReadonlySet<number>
  /** Positions that a filter found; undefined without a filter. */
  found: ReadonlySet<number> | undefined
  /** Positions of the critical path; undefined while it is not marked. */
  path: ReadonlySet<number> | undefined
  range: ZoomRange
  /** Position of the selected run. */
  selected: number
}

interface TreeGridProps extends Drawn {
  /** The trace whose rows have words; '' for a shared trace, whose readers may not search. */
  trace: string
  select(position: number): void
  fold(position: number): void
  hover(position: number): void
}

function positionOf(event: MouseEvent): number | undefined {
  const row = event.target instanceof Element ? event.target.closest('[data-position]') : null
  return row === null ? undefined : Number(row.getAttribute('data-position'))
}

/** The runs of a trace: names as a tree, times as bars. Only visible rows are in the document. */
export function TreeGrid(props: TreeGridProps) {
  const { trace, outline, unpriced, tree, rows, folded, found, path, range, selected, select, fold, hover } =
    props
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: rowHeight,
    overscan: OVERSCAN,
  })
  const ends = useMemo(() => subtreeEnds(outline, tree), [outline, tree])
  const drawn = virtual.getVirtualItems()
  const sight = { from: rows[drawn[0]?.index ?? 0] ?? 0, to: rows[drawn.at(-1)?.index ?? 0] ?? 0 }
  const comments = useCommentCounts(trace)
  const ids = useMemo(() => [...tree.order].map((place) => outline.ids[place] ?? ''), [outline.ids, tree])
  const words = useRunWords({ trace, version: outline.version, ids }, sight)
  const selectedRow = rows.indexOf(selected)
  useEffect(() => {
    if (selectedRow >= 0) virtual.scrollToIndex(selectedRow)
  }, [selectedRow, virtual])
  const clicked = (event: MouseEvent): void => {
    const position = positionOf(event)
    if (position === undefined) return
    const isFold = (event.target as Element).closest('[data-fold="true"]') !== null
    if (isFold) fold(position)
    else select(position)
  }
  return (
    <div
      ref={scroller}
      id="tree"
      className={css['tree']}
      role="treegrid"
      aria-label="Runs of the trace"
      aria-rowcount={rows.length}
      aria-activedescendant={selectedRow >= 0 ? rowId(selected) : undefined}
      tabIndex={0}
      onClick={clicked}
      onMouseOver={(event) => {
        const position = positionOf(event)
        if (position !== undefined) hover(position)
      }}
    >
      <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {drawn.map(({ index, start }) => {
          const position = rows[index] ?? 0
          const place = tree.order[position] ?? 0
          const id = outline.ids[place] ?? ''
          return (
            <TreeRow
              key={id}
              words={words.get(id) ?? ''}
              comments={comments.get(id) ?? 0}
              unpriced={unpriced[place] ?? 0}
              outline={outline}
              tree={tree}
              position={position}
              top={start}
              subtreeEnd={ends[position] ?? 0}
              range={range}
              isSelected={position === selected}
              isFolded={folded.has(position)}
              isDim={found !== undefined && !found.has(position)}
              isCritical={path?.has(position) === true}
            />
          )
        })}
      </div>
    </div>
  )
}
