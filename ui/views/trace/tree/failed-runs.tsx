import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef } from 'react'
import type { Outline } from '../../../data/outline.ts'
import { pathAbove } from '../../../data/trace/failed-runs.ts'
import { useRunWords } from '../../../data/trace/run-words.ts'
import type { Tree } from '../../../data/tree.ts'
import { columnDuration, countText } from '../../../parts/format/numbers.ts'
import { TypeIcon } from '../../../parts/icon.tsx'
import { Button } from '../../../parts/controls.tsx'
import css from './failed-runs.module.css'

const OVERSCAN = 6
/** Pixels of a row: two lines with their space. */
const ROW = 52

const idOf = (position: number): string => `failed-${position}`

interface FailedRunsProps {
  /** '' for a shared trace, whose readers may not read the errors of many runs. */
  trace: string
  outline: Outline
  tree: Tree
  /** Positions of the failed runs, in the order of the tree. */
  rows: readonly number[]
  selected: number
  select(position: number): void
  leave(): void
}

/** The failed runs of a trace, each with the first line of its error and the runs above it. */
export function FailedRuns({ trace, outline, tree, rows, selected, select, leave }: FailedRunsProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: OVERSCAN,
  })
  const drawn = virtual.getVirtualItems()
  const ids = useMemo(
    () => rows.map((position) => outline.ids[tree.order[position] ?? 0] ?? ''),
    [outline.ids, tree, rows],
  )
  const sight = { from: drawn[0]?.index ?? 0, to: drawn.at(-1)?.index ?? 0 }
  const words = useRunWords({ trace, version: `failed ${outline.version}`, ids }, sight)
  const at = rows.indexOf(selected)
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at)
  }, [at, virtual])
  return (
    <>
      <p className={css['note']}>
        <span>
          {at < 0 ? countText(rows.length) : `${at + 1} of ${countText(rows.length)}`} failed; <kbd>j</kbd>{' '}
          <kbd>k</kbd> go through them
        </span>
        <Button look="plain" onClick={leave}>
          Show all runs
        </Button>
      </p>
      <div
        ref={scroller}
        id="tree"
        className={css['list']}
        role="listbox"
        aria-label="Failed runs"
        aria-activedescendant={at >= 0 ? idOf(selected) : undefined}
        tabIndex={0}
      >
        <div role="presentation" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {drawn.map(({ index, start }) => {
            const position = rows[index] ?? 0
            const place = tree.order[position] ?? 0
            const [line = ''] = (words.get(ids[index] ?? '') ?? '').split('\n', 1)
            return (
              <div
                key={ids[index]}
                id={idOf(position)}
                className={css['row']}
                role="option"
                aria-selected={position === selected}
                aria-posinset={index + 1}
                aria-setsize={rows.length}
                style={{ transform: `translateY(${start}px)` }}
                onClick={() => select(position)}
              >
                <span className={css['name']}>
                  <TypeIcon type={outline.types[place] ?? ''} />
                  <b>{outline.names[place]}</b>
                  <span className={css['path']}>{pathAbove(outline, tree, position)}</span>
                  <span className={css['time']}>{columnDuration(outline.durations[place] || undefined)}</span>
                </span>
                <span className={css['error']} dir="auto" title={words.get(ids[index] ?? '')}>
                  {line}
                </span>
              </div>
            )
          })}
        </div>
      </div>
    </>
  )
}
