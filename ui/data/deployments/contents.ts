import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useMemo } from 'react'
import { call, type Reply } from '../../api/call.ts'
import { joinFilter, quoted } from '../filter/filter.ts'
import { useDeploymentApi } from './deployment-api.ts'
import { FALLBACK_MS, LIVE } from './live.ts'

export interface DeploymentThread {
  thread_id: string
  status: string
  created_at: string
  updated_at: string
  metadata: Record<string, unknown>
  /** Open questions by task. */
  interrupts?: Record<string, { value?: unknown }[]>
  error?: { message?: string } | null
  /** The first and the last message of its values, if these have messages. */
  extracted?: { first?: unknown; last?: unknown }
}

/** An assistant: a graph with settings. */
export interface Assistant {
  assistant_id: string
  graph_id: string
  name: string
  description?: string | null
  version: number
  config: Record<string, unknown>
  context?: Record<string, unknown>
  metadata: Record<string, unknown>
  created_at: string
  updated_at: string
}

/** Path of the drawing of a graph with its subgraphs; `id` is that of an assistant, or the name of the graph. */
export function drawingPath(id: string): string {
  return `/assistants/${encodeURIComponent(id)}/graph?xray=true`
}

const MOST_ASSISTANTS = 1000

/** The names of the graphs of the newest 1,000 assistants, by the id of the assistant. */
export function useGraphNames(name: string): ReadonlyMap<string, string> {
  const body = { select: ['assistant_id', 'graph_id'], limit: MOST_ASSISTANTS }
  const { data } = useDeploymentRead<Pick<Assistant, 'assistant_id' | 'graph_id'>[]>(
    name,
    '/assistants/search',
    { body },
  )
  return useMemo(() => new Map(data?.map((one) => [one.assistant_id, one.graph_id])), [data])
}

export interface Cron {
  cron_id: string
  schedule: string
  thread_id: string | null
  assistant_id: string
  next_run_date: string | null
  enabled?: boolean
}

export interface StoreItem {
  namespace: string[]
  key: string
  value: unknown
  updated_at: string
}

/** The result of a bulk cancel for one run. */
export interface CancelOutcome {
  run_id: string
  thread_id: string
  outcome: string
  status: string | null
}

const PAGE = 50

/**
 * A list of the deployment's API in pages, by POST to `path` with `body`. It is read again after changes of runs
 * (live.ts).
 */
export function useDeploymentList<T>(
  name: string,
  path: string,
  body: object = {},
  pick?: (data: unknown) => T[],
) {
  const deployments = useDeploymentApi()
  return useInfiniteQuery({
    queryKey: ['deployment', name, path, body],
    queryFn: async ({ signal, pageParam }) => {
      const sent = { ...body, limit: PAGE, offset: pageParam }
      const { data, next } = await deployments.call<unknown>(name, path, { body: sent, signal })
      return { rows: pick === undefined ? (data as T[]) : pick(data), next }
    },
    initialPageParam: 0,
    getNextPageParam: ({ next }) => (next === undefined ? undefined : Number(next)),
    refetchInterval: FALLBACK_MS,
    meta: LIVE,
  })
}

/** What the trace of a run costs. */
export type RunCost = Pick<Reply<'POST /api/v1/runs/query'>['runs'][number], 'total_cost' | 'unpriced_runs'>

const COSTS = 'run-costs'
const COSTS_EVERY_MS = 10_000
/** Runs of which one request reads the costs. */
const COSTS_AT_ONCE = 100

/** The costs of runs that have a trace, by the id of the run; the traces come some seconds after the runs. */
export function useRunCosts(ids: readonly string[]): ReadonlyMap<string, RunCost> {
  const { data } = useQuery({
    queryKey: [COSTS, ids],
    queryFn: async ({ signal }) => {
      const costs = new Map<string, RunCost>()
      for (let from = 0; from < ids.length; from += COSTS_AT_ONCE) {
        const id = ids.slice(from, from + COSTS_AT_ONCE)
        const select = ['id', 'total_cost', 'unpriced_runs']
        const body = { id, is_root: true, select, limit: COSTS_AT_ONCE }
        const { runs } = await call('POST /api/v1/runs/query', { body, signal })
        for (const run of runs) costs.set(run.id, run)
      }
      return costs
    },
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
    refetchInterval: COSTS_EVERY_MS,
  })
  return data ?? new Map()
}

const MOST_FOUND = 100
const IS_UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * The ids of the threads of a deployment in whose newest 100 matching traces a text is found: the traces of a deployment
 * are in the project of its name. Undefined without a text, and while they are read.
 */
export function useThreadsWith(name: string, text: string) {
  return useQuery({
    queryKey: ['threads-with', name, text],
    queryFn: async ({ signal }): Promise<string[]> => {
      const [project] = await call('GET /api/v1/sessions', { query: { name, include_stats: false }, signal })
      if (project === undefined) return []
      const filter = joinFilter(text.split(/\s+/).map((word) => `search(${quoted(word)})`))
      const body = {
        session: [project.id],
        is_root: true,
        filter,
        select: ['id', 'thread_id'],
        limit: MOST_FOUND,
      }
      const { runs } = await call('POST /api/v1/runs/query', { body, signal })
      // Other senders of the project may have threads whose ids are no uuids, which the deployment would refuse.
      return [
        ...new Set(runs.flatMap(({ thread_id }) => (IS_UUID.test(thread_id ?? '') ? (thread_id ?? []) : []))),
      ]
    },
    enabled: text !== '',
    placeholderData: keepPreviousData,
  })
}

const MINUTE_MS = 60_000
const COUNTED_RUNS = 500
const COUNT_EVERY_MS = 10_000

/** Returns the number of runs that began in the last minute, as text; undefined while it is not known. */
export function useRunsPerMinute(name: string): string | undefined {
  const deployments = useDeploymentApi()
  const { data } = useQuery({
    queryKey: ['deployment', name, 'runs-per-minute'],
    queryFn: async ({ signal }) => {
      const body = { limit: COUNTED_RUNS, select: ['created_at'] }
      const sent = { body, signal }
      const runs = (await deployments.call<{ created_at: string }[]>(name, '/runs/search', sent)).data
      const from = Date.now() - MINUTE_MS
      return runs.filter(({ created_at }) => Date.parse(created_at) >= from).length
    },
    refetchInterval: COUNT_EVERY_MS,
  })
  return data === COUNTED_RUNS ? `${data} or more` : data?.toString()
}

/** A response of the API of a deployment. */
export function useDeploymentRead<T>(
  name: string,
  path: string,
  {
    body,
    every = false,
    isOn = true,
    live = false,
  }: { body?: unknown; every?: number | false; isOn?: boolean; live?: boolean } = {},
) {
  const deployments = useDeploymentApi()
  return useQuery({
    queryKey: ['deployment', name, path, body],
    queryFn: async ({ signal }) =>
      (await deployments.call<T>(name, path, { signal, ...(body !== undefined && { body }) })).data,
    refetchInterval: live ? FALLBACK_MS : every,
    enabled: isOn,
    ...(live && { meta: LIVE }),
  })
}

/** Cancels the runs of one status, or of both statuses; returns the outcome for each run. */
export function useBulkCancel(name: string) {
  const deployments = useDeploymentApi()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async ({ status, action }: { status: 'pending' | 'running' | 'all'; action: string }) =>
      (
        await deployments.call<CancelOutcome[]>(name, `/runs/cancel?action=${action}`, {
          body: { status },
          headers: { prefer: 'return=representation' },
        })
      ).data,
    onSettled: () => queries.invalidateQueries({ queryKey: ['deployment', name] }),
  })
}

/** Makes an earlier version of an assistant the latest one. */
export function useVersionChoice(name: string) {
  const deployments = useDeploymentApi()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ assistant_id, version }: { assistant_id: string; version: number }) =>
      deployments.call(name, `/assistants/${assistant_id}/latest`, { body: { version } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['deployment', name] }),
  })
}
