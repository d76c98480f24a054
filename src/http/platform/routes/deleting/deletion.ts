import { AppError, toAppError } from '../../../../base/errors.ts'
import { parseUuid } from '../../../../base/ids.ts'
import type { DeletionJob, DeletionScope } from '../../../../ingest/deletion/deletion-store.ts'
import type { Project } from '../../../../ingest/project-store.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { parseTime } from '../../../../trace/derive/time.ts'
import { parseFilter } from '../../../../trace/filter/filter.ts'
import { uuidParameter } from '../../../api/parameters.ts'
import { bodyFault } from '../../../body/json.ts'
import { found, uuidsOf } from '../../request/body-fields.ts'
import { actorOf } from '../../actor.ts'
import { type PlatformCaller, type PlatformRoute, route } from '../../route.ts'

const TAG = 'Deleting'

function toJob({ id, scope, status, deleted, error, created_at, finished_at }: DeletionJob) {
  return {
    job_id: id,
    kind: scope.kind,
    status,
    deleted,
    error,
    created_at: new Date(created_at).toISOString(),
    finished_at: finished_at === null ? null : new Date(finished_at).toISOString(),
  }
}

/** Queues the deletion and records the caller. */
async function submit(
  { deps, principal }: PlatformCaller,
  scope: DeletionScope,
  subject: { id: string; what: string; details: Record<string, unknown> },
): Promise<DeletionJob> {
  const { workspace_id, organization_id } = principal
  const job = found(await deps.deleter.submit(workspace_id, scope), subject.what)
  const details = { workspace_id, job_id: job.id, ...subject.details }
  const change = { organization_id, action: `${scope.kind}.delete`, subject_id: subject.id, details }
  await deps.identity.recordChange(change, actorOf(principal, deps.clock))
  return job
}

function toScope(body: SchemaTypes['run-deletion']): DeletionScope & { kind: 'runs' } {
  const time = (path: 'start_time' | 'end_time'): number | undefined => {
    const value = body[path] ?? undefined
    const micros = parseTime(value)
    if (value === undefined || micros !== undefined) return micros
    throw bodyFault([{ code: 'bad_format', path, message: 'must be an ISO 8601 time' }])
  }
  const filter = body.filter ?? undefined
  if (filter !== undefined) parseFilter(filter)
  const [start_time, end_time] = [time('start_time'), time('end_time')]
  return {
    kind: 'runs',
    project_id: parseUuid(body.session) ?? '',
    ...(filter !== undefined && { filter }),
    ...(start_time !== undefined && { start_time }),
    ...(end_time !== undefined && { end_time }),
  }
}

/** Queues the deletion of a project; the project is gone at once. */
async function deleteProject(
  { deps, principal }: PlatformCaller,
  { id, name }: Project,
): Promise<DeletionJob> {
  const scope = { kind: 'project' as const, project_id: id }
  const job = await submit({ deps, principal }, scope, { id, what: 'Session', details: { name } })
  await deps.projects.delete(principal.workspace_id, id)
  return job
}

/** Whether the project has the trace, including a trace that is acknowledged but not yet stored. */
async function hasTrace(
  { deps, principal }: PlatformCaller,
  session_id: string,
  trace_id: string,
): Promise<boolean> {
  const where = { project_ids: [session_id], trace_ids: [trace_id] }
  const find = (): Promise<boolean> => deps.selectedReads.has(principal.workspace_id, where)
  if (await find()) return true
  await deps.ingester.settled()
  return await find()
}

/** Queues the deletion of a trace, of one project if `session_id` is given; undefined for an unknown trace. */
async function deleteTrace(
  { deps, principal }: PlatformCaller,
  trace_id: string,
  session_id: string | undefined,
): Promise<DeletionJob | undefined> {
  if (session_id !== undefined && !(await hasTrace({ deps, principal }, session_id, trace_id)))
    return undefined
  const subject = { id: trace_id, what: 'Trace', details: {} }
  return await submit({ deps, principal }, { kind: 'trace', trace_id }, subject).catch((thrown: unknown) => {
    if (toAppError(thrown).code === 'not_found') return undefined
    throw thrown
  })
}

function deleteListedRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'DELETE',
      path: '/sessions',
      needs: 'runs:delete',
      summary: 'Delete projects with their runs',
      description: 'As DELETE /sessions/{id}; none is deleted if one of them does not exist.',
      tag: TAG,
      body: 'session-deletion',
      reply: 'deletion-job-list',
      status: 202,
      errors: ['not_found', 'conflict'],
      async handle({ deps, principal, body }) {
        const ids = new Set(uuidsOf(Array.isArray(body) ? body : body.session_ids))
        const projects = await Promise.all(
          [...ids].map((id) => deps.projects.get(principal.workspace_id, id)),
        )
        const known = projects.map((project) => found(project, 'Session'))
        const jobs: SchemaTypes['deletion-job-list'] = []
        for (const project of known) jobs.push(toJob(await deleteProject({ deps, principal }, project)))
        return { body: jobs }
      },
    }),
    route({
      method: 'POST',
      path: '/runs/delete/traces',
      needs: 'runs:delete',
      summary: 'Delete traces',
      description:
        'As DELETE /traces/{trace_id}, for each of them. Unknown ones are left out; 404 if all are.',
      tag: TAG,
      body: 'trace-deletion',
      reply: 'deletion-job-list',
      status: 202,
      errors: ['not_found', 'conflict', 'store_unavailable'],
      async handle({ deps, principal, body }) {
        const session_id = parseUuid(body.session_id)
        const jobs: SchemaTypes['deletion-job-list'] = []
        for (const id of new Set(uuidsOf(body.trace_ids))) {
          const job = await deleteTrace({ deps, principal }, id, session_id)
          if (job !== undefined) jobs.push(toJob(job))
        }
        if (jobs.length === 0) throw new AppError('not_found', { message: 'Trace not found' })
        return { body: jobs }
      },
    }),
  ]
}

function deleteManyRoutes(): PlatformRoute[] {
  return [
    ...deleteListedRoutes(),
    route({
      method: 'POST',
      path: '/runs/delete',
      needs: 'runs:delete',
      summary: 'Delete the traces of all runs that match',
      description:
        'In the background. Deletes whole traces, with their runs that do not match. Usage counts stay.',
      tag: TAG,
      body: 'run-deletion',
      reply: 'deletion-job',
      status: 202,
      errors: ['not_found', 'conflict'],
      async handle({ deps, principal, body }) {
        const scope = toScope(body)
        found(await deps.projects.get(principal.workspace_id, scope.project_id), 'Session')
        const { kind: _kind, project_id: id, ...details } = scope
        return { body: toJob(await submit({ deps, principal }, scope, { id, what: 'Session', details })) }
      },
    }),
    route({
      method: 'GET',
      path: '/runs/delete/{job_id}',
      needs: 'runs:read',
      summary: 'Progress of a deletion',
      description: 'For a week after it ended.',
      tag: TAG,
      params: { job_id: uuidParameter('As the deletion was answered with.') },
      reply: 'deletion-job',
      errors: ['not_found'],
      handle: async ({ deps, principal, params: { job_id } }) => ({
        body: toJob(found(await deps.deleter.get(principal.workspace_id, job_id), 'Deletion')),
      }),
    }),
  ]
}

/** Deleting projects, traces, and the traces of runs that match. */
export function deletionRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'DELETE',
      path: '/sessions/{id}',
      needs: 'runs:delete',
      summary: 'Delete a project with its runs',
      description: 'The project is gone at once, its runs in the background. Usage counts stay.',
      tag: TAG,
      params: { id: uuidParameter('Id of the project.') },
      reply: 'deletion-job',
      status: 202,
      errors: ['not_found', 'conflict'],
      async handle({ deps, principal, params: { id } }) {
        const project = found(await deps.projects.get(principal.workspace_id, id), 'Session')
        return { body: toJob(await deleteProject({ deps, principal }, project)) }
      },
    }),
    route({
      method: 'DELETE',
      path: '/traces/{trace_id}',
      needs: 'runs:delete',
      summary: 'Delete a trace',
      description:
        'In the background. For a day, new data of the trace is refused with trace_deleted. Usage counts stay.',
      tag: TAG,
      params: { trace_id: uuidParameter('Id of the trace.') },
      reply: 'deletion-job',
      status: 202,
      errors: ['not_found', 'conflict', 'store_unavailable'],
      async handle({ deps, principal, params: { trace_id } }) {
        const subject = { id: trace_id, what: 'Trace', details: {} }
        return { body: toJob(await submit({ deps, principal }, { kind: 'trace', trace_id }, subject)) }
      },
    }),
    ...deleteManyRoutes(),
  ]
}
