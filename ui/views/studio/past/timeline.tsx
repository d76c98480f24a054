import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, type Ref, useEffect, useRef } from 'react'
import type { TreeStep } from '../../../data/studio/branches.ts'
import { useRunTrace } from '../../../data/studio/run-reads.ts'
import { nodesOfStep } from '../../../data/studio/step-traces.ts'
import type { ThreadStep } from '../../../data/studio/step.ts'
import { Button, Chip } from '../../../parts/controls.tsx'
import { bytesText } from '../../../parts/format/numbers.ts'
import { useRowKeys } from '../../../parts/keyboard/row-keys.ts'
import { Icon } from '../../../parts/icon.tsx'
import { Loaded } from '../../../parts/states.tsx'
import { Time } from '../../../parts/time.tsx'
import { figuresOf, stepFiguresText } from './step-figures.ts'
import css from '../studio.module.css'
import { type ShownThread, stepName } from '../thread.ts'

const MAX_LANE = 6
const LANE_PX = 12
/** Height of most rows, before they are measured. */
const ROW_PX = 48
/** Number of rows that are drawn beyond the visible ones. */
const OVERSCAN = 30

interface Place {
  name: string
  thread: string
}

/** Time, tokens and cost of a step, once the trace of its run is stored. */
function Figures({ name, thread, step }: Place & { step: ThreadStep }) {
  const trace = useRunTrace(name, thread, step.metadata?.source === 'loop' ? step.metadata.run_id : undefined)
  const figures = trace && figuresOf(nodesOfStep(trace, step))
  return figures === undefined ? null : <span data-figures="">{stepFiguresText(figures)} · </span>
}

/** Names the run that begins with a checkpoint, and its graph if that is another than the shown one. */
function RunStart({ step: { metadata }, graph }: { step: ThreadStep; graph: string }) {
  const { run_id = '', run_attempt = 1, graph_id = graph } = metadata ?? {}
  return (
    <>
      run {run_id.slice(0, 13)}…{run_attempt > 1 && `, attempt ${run_attempt}`}
      {graph_id !== graph && `, graph ${graph_id}`} ·{' '}
    </>
  )
}

/** The second line of a row. */
function Note({ name, thread, graph, row }: Pick<RowProps, 'name' | 'thread' | 'graph' | 'row'>) {
  const { step, lane, isRunStart } = row
  return (
    <span className={css['note']}>
      {isRunStart && <RunStart step={step} graph={graph} />}
      <Figures name={name} thread={thread} step={step} />
      {lane > 0 && `branch ${lane + 1} · `}
      {step.next.length > 0 ? `next: ${step.next.join(', ').replace('__start__', 'START')} · ` : 'end · '}
      {bytesText(step.values_bytes)} · <Time time={step.created_at} />
    </span>
  )
}

interface RowProps extends Place {
  /** Name of the graph that is shown. */
  graph: string
  row: TreeStep
  /** Place of the row in the list, from 0, and the number of all rows. */
  at: number
  count: number
  /** Pixels from the top of the list. */
  top: number
  isSelected: boolean
  choose(id: string): void
  measure: Ref<HTMLLIElement>
}

/** The nodes of tasks, which are not those that ran before the checkpoint, but those after it. */
function namesOf(tasks: ThreadStep['tasks']): string {
  return [...new Set(tasks.map(({ name }) => name))].join(', ')
}

const Row = memo(function Row({
  name,
  thread,
  graph,
  row,
  at,
  count,
  top,
  isSelected,
  choose,
  measure,
}: RowProps) {
  const { step, lane, isFork, ran } = row
  const failed = namesOf(step.tasks.filter(({ error }) => error !== null))
  const open = namesOf(step.tasks.filter(({ interrupts }) => interrupts.length > 0))
  return (
    <li
      ref={measure}
      data-index={at}
      data-row=""
      aria-posinset={at + 1}
      aria-setsize={count}
      style={{ transform: `translateY(${top}px)` }}
    >
      <button
        type="button"
        className={css['step']}
        aria-pressed={isSelected}
        data-lane={lane}
        style={{ paddingInlineStart: 8 + Math.min(lane, MAX_LANE) * LANE_PX }}
        onClick={() => choose(step.checkpoint.checkpoint_id)}
      >
        <span className={css['stepName']}>
          {isFork && <span title="A new branch begins here">↳ </span>}
          {stepName(step)}
        </span>
        <span className={css['chips']}>
          {ran.map((node, place) => (
            <Chip key={`${node}${place}`}>{node}</Chip>
          ))}
          {failed !== '' && (
            <span className={css['bad']}>
              <Icon name="error" /> {failed} failed
            </span>
          )}
          {open !== '' && (
            <span className={css['warn']}>
              <Icon name="pending" /> {open} asks
            </span>
          )}
        </span>
        <Note {...{ name, thread, graph, row }} />
      </button>
    </li>
  )
})

interface StepsProps extends Place {
  graph: string
  rows: readonly TreeStep[]
  selected: ThreadStep | undefined
  choose(id: string): void
  /** Reads earlier checkpoints; undefined when there are none. */
  more: (() => void) | undefined
}

/** Draws only the visible rows and those around them, because a thread may have thousands. */
const Steps = memo(function Steps({ name, thread, graph, rows, selected, choose, more }: StepsProps) {
  const frame = useRef<HTMLDivElement>(null)
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PX,
    getItemKey: (at) => rows[at]?.step.checkpoint.checkpoint_id ?? at,
    overscan: OVERSCAN,
  })
  useRowKeys(frame)
  const items = list.getVirtualItems()
  const isAtEnd = rows.length > OVERSCAN && items.at(-1)?.index === rows.length - 1
  useEffect(() => {
    if (isAtEnd) more?.()
  }, [isAtEnd, more])
  return (
    <div
      ref={frame}
      className={css['steps']}
      tabIndex={0}
      role="group"
      aria-label="Checkpoints, scrolls"
      data-scrolls="true"
    >
      <ol aria-label="Checkpoints" style={{ height: list.getTotalSize() }}>
        {items.map(({ index, key, start }) => {
          const row = rows[index]
          return (
            row && (
              <Row
                key={key}
                {...{ name, thread, graph, row, choose }}
                at={index}
                count={rows.length}
                top={start}
                isSelected={row.step === selected}
                measure={list.measureElement}
              />
            )
          )
        })}
      </ol>
    </div>
  )
})

/** The checkpoints of the thread, newest first, as a tree of branches: each with the nodes that ran before it. */
export function CheckpointTimeline({
  name,
  thread,
  graph,
  history,
  rows,
  selected,
  choose,
}: Omit<StepsProps, 'more'> & Pick<ShownThread, 'history'>) {
  const { newest, more } = history
  return (
    <section className={css['panel']} aria-label="Timeline">
      <h2>Timeline</h2>
      <Loaded from={newest}>
        {() => <Steps {...{ name, thread, graph, rows, selected, choose, more }} />}
      </Loaded>
      {more !== undefined && <Button onClick={more}>Show earlier</Button>}
    </section>
  )
}
