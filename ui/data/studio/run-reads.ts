import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import type { DeploymentApi } from '../../api/deployment.ts'
import type { Operations, TraceRunPage } from '../../api/platform.gen.ts'
import { ApiError } from '../../api/problem.ts'
import { useDeploymentApi } from '../deployments/deployment-api.ts'
import type { ThreadRun } from '../deployments/thread-run.ts'
import { earlierInputs } from './input/earlier-inputs.ts'
import { pauseOf, type RunTrace, tracedNodes } from './step-traces.ts'

const PAGE = 100
/** Maximum number of pages of a trace that are read; executions beyond them are not shown. */
const MOST_PAGES = 20

/**
 * The executions of the nodes of a graph. The graph's own TraceRun is the root of the trace. While the trace is not
 * stored completely, reads only the executions that may have changed since `known`.
 */
async function readTrace(trace: string, known: RunTrace | undefined, signal: AbortSignal): Promise<RunTrace> {
  const query = (body: Operations['POST /api/v1/runs/query']['body']): Promise<TraceRunPage> =>
    call('POST /api/v1/runs/query', { body: { trace, ...body }, signal })
  const [root] = (await query({ id: [trace] })).runs
  const isWhole = root !== undefined && root.status !== 'pending'
  const nodes = new Map(known?.nodes.filter((node) => node.trace_id === trace).map((node) => [node.id, node]))
  let cursor: string | null = null
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { runs, cursors } = await query({ parent_run: trace, limit: PAGE, cursor })
    const isKnown = runs.every(({ id }) => nodes.get(id)?.end !== undefined)
    for (const node of tracedNodes(runs)) nodes.set(node.id, node)
    cursor = cursors.next
    if (cursor === null || (isKnown && !isWhole)) break
  }
  return { nodes: [...nodes.values()].toSorted((one, other) => one.start - other.start), isWhole }
}

/**
 * Ids of the traces of a run. The first attempt has the id of the run as its trace id; the run names the trace of the
 * last attempt. Empty when runs are not traced.
 */
async function traceIds(
  deployments: DeploymentApi,
  { name, thread, run }: { name: string; thread: string; run: string },
  signal: AbortSignal,
): Promise<string[]> {
  try {
    const { data } = await deployments.call<ThreadRun>(name, `/threads/${thread}/runs/${run}`, { signal })
    const last = data.weir?.trace_id
    return last === null ? [] : [...new Set([run, last ?? run])]
  } catch (error) {
    // The trace of a deleted run may still be stored.
    if (error instanceof ApiError && error.status === 404) return [run]
    throw error
  }
}

/**
 * The executions of the nodes of a run, read again until the trace is stored completely. Without `run`, nothing is
 * read.
 */
export function useRunTrace(name: string, thread: string, run: string | undefined): RunTrace | undefined {
  const queries = useQueryClient()
  const deployments = useDeploymentApi()
  const queryKey = ['run-trace', name, thread, run]
  const { data } = useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<RunTrace> => {
      const known = queries.getQueryData<RunTrace>(queryKey)
      const ids = await traceIds(deployments, { name, thread, run: run ?? '' }, signal)
      const traces = await Promise.all(ids.map((id) => readTrace(id, known, signal)))
      return {
        nodes: traces.flatMap(({ nodes }) => nodes),
        isWhole: traces.every(({ isWhole }) => isWhole),
      }
    },
    enabled: run !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state }) => pauseOf(state.data, state.dataUpdateCount),
  })
  return data
}

const MOST_RUNS = 50

/** The inputs of the newest runs of an assistant on any thread, read when `isOn`. */
export function useEarlierInputs(name: string, assistant: string, isOn: boolean) {
  const deployments = useDeploymentApi()
  return useQuery({
    queryKey: ['earlier-inputs', name, assistant],
    queryFn: async ({ signal }) => {
      const body = {
        limit: MOST_RUNS,
        select: ['run_id', 'created_at', 'assistant_id', 'kwargs'],
      }
      const { data } = await deployments.call<ThreadRun[]>(name, '/runs/search', { body, signal })
      return earlierInputs(data, assistant)
    },
    enabled: isOn,
    staleTime: 0,
  })
}
