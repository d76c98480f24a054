import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call, type Reply } from '../../api/call.ts'
import type { MemberCreate, MemberRead, MemberUpdate, WorkspaceRead } from '../../api/platform.gen.ts'
import { readAll } from '../../api/all-pages.ts'

const WORKSPACES = ['workspaces'] as const
const MEMBERS = ['members'] as const
/** The session is read again after changes, because it contains the caller's workspaces and permissions. */
const SESSION = ['session'] as const

/** The record that is changed, and whether although a set-up file manages it. */
export interface Overriding {
  id: string
  override: boolean
}

/** The workspaces that the caller may use, oldest first. */
export function useWorkspaces() {
  return useQuery({
    queryKey: WORKSPACES,
    queryFn: ({ signal }) => readAll<WorkspaceRead>('GET /api/v1/workspaces', { signal }),
  })
}

/** Creates, renames and deletes workspaces. */
export function useWorkspaceChanges() {
  const queries = useQueryClient()
  const onSuccess = async (): Promise<void> => {
    await queries.invalidateQueries({ queryKey: WORKSPACES })
    await queries.invalidateQueries({ queryKey: SESSION })
  }
  const save = useMutation({
    mutationFn: ({ id, display_name, override }: Partial<Overriding> & { display_name: string }) =>
      id === undefined
        ? call('POST /api/v1/workspaces', { body: { display_name } })
        : call('PATCH /api/v1/workspaces/{id}', {
            params: { id },
            query: { override },
            body: { display_name },
          }),
    onSuccess,
  })
  const remove = useMutation({
    mutationFn: ({ id, override }: Overriding) =>
      call('DELETE /api/v1/workspaces/{id}', { params: { id }, query: { override } }),
    onSuccess,
  })
  return { save, remove }
}

/** The members of the caller's workspaces; loaded only if `isAllowed`. */
export function useMembers(isAllowed: boolean) {
  return useQuery({
    queryKey: MEMBERS,
    queryFn: ({ signal }) => readAll<MemberRead>('GET /api/v1/orgs/current/members', { signal }),
    enabled: isAllowed,
  })
}

/** Adds, changes and removes members. */
export function useMemberChanges() {
  const queries = useQueryClient()
  const onSuccess = async (): Promise<void> => {
    await queries.invalidateQueries({ queryKey: MEMBERS })
    // The change may concern the caller's own role.
    await queries.invalidateQueries({ queryKey: SESSION })
  }
  const add = useMutation({
    mutationFn: (body: MemberCreate) => call('POST /api/v1/orgs/current/members', { body }),
    onSuccess,
  })
  const change = useMutation({
    mutationFn: ({ id, override, ...body }: MemberUpdate & Overriding) =>
      call('PATCH /api/v1/orgs/current/members/{user_id}', {
        params: { user_id: id },
        query: { override },
        body,
      }),
    onSuccess,
  })
  const remove = useMutation({
    mutationFn: ({ id, override }: Overriding) =>
      call('DELETE /api/v1/orgs/current/members/{user_id}', { params: { user_id: id }, query: { override } }),
    onSuccess,
  })
  return { add, change, remove }
}

/** The roles with their permissions; loaded only if `isAllowed`. */
export function useRoles(isAllowed: boolean) {
  return useQuery({
    queryKey: ['roles'],
    queryFn: ({ signal }) => call('GET /api/v1/orgs/current/roles', { signal }),
    enabled: isAllowed,
  })
}

/** A page of changes of workspaces, members and keys. */
export type AuditPage = Reply<'GET /api/v1/orgs/current/audit-logs'>

/** A filter of the audit log; '' for any. */
export interface AuditFilter {
  /** `key.create`, or `key` for all changes of keys. */
  action: string
  /** Id of a user or an API key. */
  actor: string
  /** Id of the changed object. */
  subject: string
  /** ISO times. */
  since: string
  until: string
}

/** The changes that match a filter, newest first; loaded only if `isAllowed`. */
export function useAudit(filter: AuditFilter, isAllowed: boolean) {
  const { action, actor, subject, since, until } = filter
  const query = {
    ...(action !== '' && { action }),
    ...(actor !== '' && { actor }),
    ...(subject !== '' && { subject }),
    ...(since !== '' && { start_time: since }),
    ...(until !== '' && { end_time: until }),
  }
  return useInfiniteQuery({
    queryKey: ['audit', query],
    queryFn: ({ pageParam, signal }) =>
      call('GET /api/v1/orgs/current/audit-logs', { query: { ...query, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page: AuditPage) => page.cursors.next ?? undefined,
    enabled: isAllowed,
  })
}
