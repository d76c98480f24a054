import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call, type Reply } from '../../api/call.ts'
import { ApiError } from '../../api/problem.ts'
import { FALLBACK_MS, LIVE } from './live.ts'

/** A deployment with its present state. */
export type Deployment = Reply<'GET /api/v2/deployments/{id}'>
export type Revision = Reply<'GET /api/v2/deployments/{id}/revisions/{revision_id}'>

const IS_UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const PAGE = 100
const MOST = 1000

/** The deployments of the workspace, at most 1,000. */
export function useDeployments() {
  return useQuery({
    queryKey: ['deployments'],
    queryFn: async ({ signal }) => {
      const found: Deployment[] = []
      for (let offset = 0; offset < MOST; offset += PAGE) {
        const query = { limit: PAGE, offset }
        const { resources } = await call('GET /api/v2/deployments', { query, signal })
        found.push(...resources)
        if (resources.length < PAGE) break
      }
      return found
    },
    refetchInterval: FALLBACK_MS,
    meta: LIVE,
  })
}

/** A deployment by its name, or by its id, which is in the links of `langgraph deploy`. */
export function useDeployment(name: string) {
  return useQuery({
    queryKey: ['deployments', name],
    queryFn: async ({ signal }): Promise<Deployment> => {
      if (IS_UUID.test(name))
        return await call('GET /api/v2/deployments/{id}', { params: { id: name }, signal })
      const { resources } = await call('GET /api/v2/deployments', { query: { name }, signal })
      const [found] = resources
      if (found !== undefined) return found
      throw new ApiError(`There is no deployment "${name}" in this workspace.`, {
        status: 404,
        code: 'not_found',
      })
    },
    refetchInterval: FALLBACK_MS,
    meta: LIVE,
  })
}

/**
 * Whether a thread belongs to a deployment. The traces of a deployment are in the project of its name, and the ids of
 * its threads are uuids.
 */
export function useIsHosted(project: string | undefined, thread: string): boolean {
  const { data } = useQuery({
    queryKey: ['is-hosted', project],
    queryFn: async ({ signal }) => {
      const { resources } = await call('GET /api/v2/deployments', { query: { name: project }, signal })
      return resources.length > 0
    },
    enabled: project !== undefined && IS_UUID.test(thread),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return data === true
}

const REVISIONS = 50

/** The revisions of a deployment, newest first, page by page. */
export function useRevisions(id: string) {
  return useInfiniteQuery({
    queryKey: ['deployments', id, 'revisions'],
    queryFn: async ({ signal, pageParam }) => {
      const query = { limit: REVISIONS, offset: pageParam }
      const path = 'GET /api/v2/deployments/{id}/revisions'
      const { resources, offset } = await call(path, { params: { id }, query, signal })
      return { rows: resources, next: resources.length < REVISIONS ? undefined : String(offset) }
    },
    initialPageParam: 0,
    getNextPageParam: ({ next }) => (next === undefined ? undefined : Number(next)),
    refetchInterval: FALLBACK_MS,
    meta: LIVE,
  })
}

/** The newest revision of a deployment while another one, or none, serves; undefined otherwise. */
export function useNewerRevision({ id, latest_revision_id, active_revision_id }: Deployment) {
  const revision_id = latest_revision_id ?? ''
  const { data } = useQuery({
    queryKey: ['deployments', id, 'revision', revision_id],
    queryFn: ({ signal }) =>
      call('GET /api/v2/deployments/{id}/revisions/{revision_id}', { params: { id, revision_id }, signal }),
    enabled: revision_id !== '' && revision_id !== active_revision_id,
    refetchInterval: FALLBACK_MS,
    meta: LIVE,
  })
  return data?.id === active_revision_id ? undefined : data
}

const SHOWN_WARNINGS = 20

/** Reads the warnings of a revision's build, the newest last. */
export function useBuildWarnings(id: string, revision_id: string | null) {
  return useQuery({
    queryKey: ['deployments', id, 'warnings', revision_id],
    queryFn: async ({ signal }) => {
      const params = { id, revision_id: revision_id ?? '' }
      const body = { level: 'WARNING', order: 'asc' as const, limit: SHOWN_WARNINGS }
      const path = 'POST /v1/projects/{id}/revisions/{revision_id}/build_logs'
      const { logs } = await call(path, { params, body, signal })
      return logs.filter(({ level }) => level === 'WARNING')
    },
    enabled: revision_id !== null,
  })
}

export function usePlan(): string | undefined {
  const { data } = useQuery({
    queryKey: ['organization'],
    queryFn: async ({ signal }) => await call('GET /api/v1/orgs/current', { signal }),
  })
  return data?.plan
}

/** Creates a revision with the build of an old one, interrupts a revision, or deletes the deployment. */
export function useDeploymentChange(id: string) {
  const queries = useQueryClient()
  return useMutation({
    async mutationFn(change: { kind: 'roll back' | 'interrupt'; revision_id: string } | { kind: 'delete' }) {
      if (change.kind === 'delete') return await call('DELETE /api/v2/deployments/{id}', { params: { id } })
      const params = { id, revision_id: change.revision_id }
      if (change.kind === 'roll back')
        return await call('POST /api/v2/deployments/{id}/revisions/{revision_id}/redeploy', { params })
      return await call('POST /api/v2/deployments/{id}/revisions/{revision_id}/interrupt', { params })
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['deployments'] }),
  })
}
