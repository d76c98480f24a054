import { useRunTrace } from '../../../data/studio/run-reads.ts'
import { nodesOfStep, openNodesOf, type TracedNode } from '../../../data/studio/step-traces.ts'
import type { ThreadStep } from '../../../data/studio/step.ts'
import { Link } from '../../../router/link.tsx'
import css from '../studio.module.css'
import { figuresOf, stepFiguresText } from './step-figures.ts'

/** Nodes that wait for an answer after a checkpoint; LangGraph ends them with an error, which is in their traces. */
function askingNodes({ tasks }: ThreadStep): string[] {
  return tasks.filter(({ interrupts }) => interrupts.length > 0).map(({ name }) => name)
}

function Executions({
  nodes,
  asking = [],
  note,
}: {
  nodes: readonly TracedNode[]
  asking?: readonly string[]
  note: string
}) {
  return nodes.map((one) => {
    const figures = figuresOf([one])
    const outcome = asking.includes(one.node) ? 'asks' : one.status === 'error' ? 'failed' : ''
    return (
      <li key={one.id}>
        <Link to={`/traces/${one.trace_id}?run=${one.id}`}>{one.node}</Link>
        {figures !== undefined && <span>{stepFiguresText(figures)}</span>}
        {outcome !== '' && <span className={css[outcome === 'asks' ? 'warn' : 'bad']}>{outcome}</span>}
        {note !== '' && <span className={css['note']}>{note}</span>}
      </li>
    )
  })
}

/** The executions of nodes that made a checkpoint, and those after it that made none: each with its trace, tokens and cost. */
export function StepTrace({ name, thread, step }: { name: string; thread: string; step: ThreadStep }) {
  const run = step.metadata?.run_id
  const trace = useRunTrace(name, thread, run)
  if (trace === undefined) return null
  const [made, open] = [nodesOfStep(trace, step), openNodesOf(trace, step)]
  if (made.length + open.length === 0)
    return trace.isWhole ? null : (
      <p className={css['note']} role="status">
        The trace of the run is being stored.
      </p>
    )
  return (
    <ul className={css['executions']} aria-label="Trace of the step">
      <Executions nodes={made} note="" />
      <Executions nodes={open} asking={askingNodes(step)} note="without a checkpoint" />
    </ul>
  )
}
