import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { alignTrees, type Subtree } from '../../data/compare/align.ts'
import { type ReadRun, wholeRunOptions } from '../../data/runs.ts'
import { useStillOutline } from '../../data/traces.ts'
import { buildTree } from '../../data/tree.ts'
import { Button } from '../../parts/controls.tsx'
import { useKeys } from '../../parts/keyboard/keys.ts'
import { Empty, Failure, Loaded, PanelBoundary, Skeleton } from '../../parts/states.tsx'
import { durationText } from '../../parts/format/numbers.ts'
import { microsBetween } from '../../parts/format/times.ts'
import { Time } from '../../parts/time.tsx'
import { PageHead } from '../../parts/page/page-head.tsx'
import { setParam, setParams, useParam } from '../../router/location.ts'
import { textParam } from '../../router/params.ts'
import { AlignedTable } from './aligned-table.tsx'
import css from './compare.module.css'
import { Pick } from './pick.tsx'
import { RunDiff } from './run-diff.tsx'

const A = textParam('a')
const B = textParam('b')
const ROW = textParam('row', '0')

/** The run with those below it; undefined while the outline of its trace is read. */
function useSubtree(run: ReadRun): { subtree: Subtree | undefined; error: Error | null } {
  const { data: outline, error } = useStillOutline(run.trace_id)
  const subtree = useMemo(() => {
    if (outline === undefined) return undefined
    const tree = buildTree(outline.parents)
    return { outline, tree, root: tree.positions[Math.max(0, outline.ids.indexOf(run.id))] ?? 0 }
  }, [outline, run.id])
  return { subtree, error }
}

function idIn({ outline, tree }: Subtree, position: number | undefined): string {
  return position === undefined ? '' : (outline.ids[tree.order[position] ?? -1] ?? '')
}

function SelectedPair({ a, b }: { a: string; b: string }) {
  const [left, right] = [useQuery(wholeRunOptions(a)), useQuery(wholeRunOptions(b))]
  if (a === '' || b === '')
    return (
      <Empty title={`This run is only in ${a === '' ? 'B' : 'A'}`}>
        <p>Choose a run that both have to see what differs.</p>
      </Empty>
    )
  return (
    <Loaded from={left}>
      {(one) => <Loaded from={right}>{(two) => <RunDiff a={one} b={two} />}</Loaded>}
    </Loaded>
  )
}

function Both({ left, right }: { left: ReadRun; right: ReadRun }) {
  const [{ subtree: a, error }, { subtree: b, error: other }] = [useSubtree(left), useSubtree(right)]
  const rows = useMemo(() => (a === undefined || b === undefined ? [] : alignTrees(a, b)), [a, b])
  const selected = Math.max(0, Math.min(Number(useParam(ROW)) || 0, rows.length - 1))
  const select = (index: number): void => setParam(ROW, String(index))
  const step = (by: number): void => select(Math.max(0, Math.min(selected + by, rows.length - 1)))
  useKeys({ j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1) })
  const fault = error ?? other
  if (fault !== null) return <Failure error={fault} />
  if (a === undefined || b === undefined) return <Skeleton />
  const row = rows[selected]
  return (
    <div className={css['body']}>
      <AlignedTable a={a} b={b} rows={rows} selected={selected} select={select} />
      <section className={css['right']} tabIndex={0} aria-label="The compared runs" data-scrolls="true">
        <PanelBoundary key={selected}>
          <SelectedPair a={idIn(a, row?.a)} b={idIn(b, row?.b)} />
        </PanelBoundary>
      </section>
    </div>
  )
}

/** When a run started and how long it took: traces of the same name are told apart by it. */
function WhenRun({ letter, run }: { letter: string; run: ReadRun }) {
  return (
    <span>
      {letter} <Time time={run.start_time} />, took{' '}
      {durationText(microsBetween(run.start_time, run.end_time))}
    </span>
  )
}

/** Two runs side by side, with everything below them aligned. */
export function Compare() {
  const [a, b] = [useParam(A), useParam(B)]
  const [left, right] = [useQuery(wholeRunOptions(a)), useQuery(wholeRunOptions(b))]
  if (a === '')
    return (
      <Empty title="Nothing to compare yet" heading="h1">
        <p>Tick two runs in the list of a project, or choose Compare in the panel of a run.</p>
      </Empty>
    )
  return (
    <Loaded from={left} heading="h1">
      {(one) => (
        <div className={css['page']}>
          {b === '' ? (
            <Pick run={one} choose={(id) => setParam(B, id, { step: true })} />
          ) : (
            <Loaded from={right} heading="h1">
              {(two) => (
                <>
                  <PageHead className={css['head']}>
                    <h1>
                      {one.name} <span className={css['note']}>and</span> {two.name}
                    </h1>
                    <p className={css['note']}>
                      <WhenRun letter="A" run={one} /> · <WhenRun letter="B" run={two} />
                    </p>
                    <Button onClick={() => setParams({ a: b, b: a, row: undefined })}>Swap</Button>
                  </PageHead>
                  <Both key={`${a} ${b}`} left={one} right={two} />
                </>
              )}
            </Loaded>
          )}
        </div>
      )}
    </Loaded>
  )
}
