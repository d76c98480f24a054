import { AppError } from '../../../../base/errors.ts'
import { parseUuid } from '../../../../base/ids.ts'
import type { DeletionJob, DeletionScope } from '../../../../ingest/deletion/deletion-store.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { parseTime } from '../../../../trace/derive/time.ts'
import { parseFilter } from '../../../../trace/filter/filter.ts'
import { uuidParameter } from '../../../api/parameters.ts'
import { bodyFault } from '../../../body/json.ts'
import { actorOf } from '../../actor.ts'
import { type PlatformContext, type PlatformRoute, route } from '../../route.ts'

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

function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new AppError('not_found', { message: `${what} not found` })
  return value
}

/** Queues the deletion and records the caller. */
async function submit(
  { deps, principal }: Pick<PlatformContext, 'deps' | 'principal'>,
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

function deleteManyRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'POST',
      path: '/runs/delete',
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
      summary: 'Delete a project with its runs',
      description: 'The project is gone at once, its runs in the background. Usage counts stay.',
      tag: TAG,
      params: { id: uuidParameter('Id of the project.') },
      reply: 'deletion-job',
      status: 202,
      errors: ['not_found', 'conflict'],
      async handle({ deps, principal, params: { id } }) {
        const { name } = found(await deps.projects.get(principal.workspace_id, id), 'Session')
        const scope = { kind: 'project' as const, project_id: id }
        const job = await submit({ deps, principal }, scope, { id, what: 'Session', details: { name } })
        await deps.projects.delete(principal.workspace_id, id)
        return { body: toJob(job) }
      },
    }),
    route({
      method: 'DELETE',
      path: '/traces/{trace_id}',
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
