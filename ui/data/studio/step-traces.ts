import type { ListedRun } from '../run-pages.ts'
import type { ThreadStep } from './step.ts'

/** An execution of a node in the trace of its run. */
export interface TracedNode {
  /** Id of its TraceRun. */
  id: string
  trace_id: string
  /** The step in which it ran: the `langgraph_step` of its metadata. */
  step: number
  /** The node: the `langgraph_node` of its metadata. */
  node: string
  status: string
  /** Epoch milliseconds; the end is undefined while it runs. */
  start: number
  end: number | undefined
  /** Tokens of the execution and of the calls below it. */
  tokens: number | undefined
  /** Dollars as a decimal text, including the calls below the execution; undefined when nothing has a price. */
  cost: string | undefined
  /** Number of its calls that have no price. */
  unpriced: number
}

/** The executions of nodes of a run. */
export interface RunTrace {
  nodes: readonly TracedNode[]
  /** False while the trace is not stored completely. */
  isWhole: boolean
}

function millisOf(time: string | null | undefined): number | undefined {
  const millis = Date.parse(time ?? '')
  return Number.isNaN(millis) ? undefined : millis
}

/**
 * The executions among the children of a graph's own TraceRun; children without a step, such as hooks, are left out.
 */
export function tracedNodes(children: readonly ListedRun[]): TracedNode[] {
  return children.flatMap((run) => {
    const metadata = run.extra?.['metadata'] as Readonly<Record<string, unknown>> | undefined
    const { langgraph_step, langgraph_node } = metadata ?? {}
    const start = millisOf(run.start_time)
    const step = Number(langgraph_step ?? Number.NaN)
    if (typeof langgraph_node !== 'string' || start === undefined || !Number.isInteger(step)) return []
    return {
      id: run.id,
      trace_id: run.trace_id,
      step,
      node: langgraph_node,
      start,
      status: run.status ?? '',
      end: millisOf(run.end_time),
      tokens: run.total_tokens ?? undefined,
      cost: run.total_cost ?? undefined,
      unpriced: run.unpriced_runs ?? 0,
    }
  })
}

/** The executions that made a checkpoint: those in its run that have the checkpoint's step number. */
export function nodesOfStep({ nodes }: RunTrace, { metadata }: ThreadStep): TracedNode[] {
  return metadata?.source === 'loop' ? nodes.filter(({ step }) => step === metadata.step) : []
}

/**
 * The executions after a checkpoint that did not make a further one, because their nodes failed or wait for an answer.
 */
export function openNodesOf({ nodes }: RunTrace, { metadata, tasks }: ThreadStep): TracedNode[] {
  const open = new Set(
    tasks.filter(({ error, interrupts }) => error !== null || interrupts.length > 0).map(({ name }) => name),
  )
  return nodes.filter(({ step, node }) => step === (metadata?.step ?? 0) + 1 && open.has(node))
}

const LOOK_MS = 1000
/** Maximum factor by which pauses grow, for a long run and for a run without stored TraceRuns. */
const LONGEST_PAUSE = 30
/** Number of reads after which the pauses become longer. */
const QUICK_LOOKS = 300
/** Number of reads without a result after which reading stops. */
const MOST_LOOKS = 100

/**
 * Milliseconds until a trace is read again; false: never. Threads have many runs of which nothing is stored, such as those
 * whose traces were deleted, and a run may take an hour.
 */
export function pauseOf(trace: RunTrace | undefined, looks: number): number | false {
  if (trace?.isWhole === true) return false
  if (trace === undefined || trace.nodes.length > 0)
    return looks < QUICK_LOOKS ? LOOK_MS : LONGEST_PAUSE * LOOK_MS
  return looks < MOST_LOOKS && Math.min(Math.max(looks, 1), LONGEST_PAUSE) * LOOK_MS
}
