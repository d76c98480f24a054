import { AppError } from '../../../base/errors.ts'
import { parseUuid } from '../../../base/ids.ts'
import type { RepriceJob, RepriceScope } from '../../../ingest/prices/reprice-jobs.ts'
import type { SchemaTypes } from '../../../schema/types.gen.ts'
import { formatTime, parseTime } from '../../../trace/derive/time.ts'
import { bodyFault } from '../../body/json.ts'
import { uuidParameter } from '../../api/parameters.ts'
import { route, type PlatformRoute } from '../route.ts'

const TAG = 'Prices'

/** The TraceRuns that a request selects. @throws AppError for times that are invalid or in the wrong order */
export function toScope(body: SchemaTypes['reprice-request']): RepriceScope {
  const [start_time, end_time] = (['start_time', 'end_time'] as const).map((path) => {
    const time = parseTime(body[path])
    if (time !== undefined) return time
    throw bodyFault([{ code: 'bad_format', path, message: 'must be an ISO 8601 time' }])
  })
  if (start_time! >= end_time!) {
    throw bodyFault([{ code: 'value_error', path: 'end_time', message: 'must be after start_time' }])
  }
  const sessions = body.session === null || body.session === undefined ? null : [body.session].flat()
  return {
    start_time: start_time!,
    end_time: end_time!,
    project_ids: sessions && sessions.flatMap((id) => parseUuid(id) ?? []),
  }
}

function toJob(job: RepriceJob): SchemaTypes['reprice-job'] {
  return {
    job_id: job.id,
    status: job.status,
    start_time: formatTime(job.start_time),
    end_time: formatTime(job.end_time),
    session: job.project_ids,
    progress: job.progress,
    examined: job.examined,
    changed: job.changed,
    error: job.error,
    created_at: new Date(job.created_at).toISOString(),
    finished_at: job.finished_at === null ? null : new Date(job.finished_at).toISOString(),
  }
}

/** Computing stored costs again, after prices have changed. */
export function repriceRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'POST',
      path: '/runs/reprice',
      needs: 'workspaces:manage',
      summary: 'Compute the costs of stored runs again',
      description:
        'Starts a job in the background. Costs that the client sent stay. Doing it twice changes nothing more.',
      tag: TAG,
      body: 'reprice-request',
      reply: 'reprice-job',
      status: 202,
      errors: ['conflict'],
      handle: async ({ deps, principal, body }) => ({
        body: toJob(await deps.repricer.submit(principal.workspace_id, toScope(body))),
      }),
    }),
    route({
      method: 'GET',
      path: '/runs/reprice/{job_id}',
      needs: 'runs:read',
      summary: 'Progress of a reprice job',
      tag: TAG,
      params: { job_id: uuidParameter('As POST /runs/reprice gave it.') },
      reply: 'reprice-job',
      errors: ['not_found'],
      async handle({ deps, principal, params: { job_id } }) {
        const job = await deps.repricer.get(principal.workspace_id, job_id)
        if (!job) throw new AppError('not_found', { message: 'Reprice job not found' })
        return { body: toJob(job) }
      },
    }),
  ]
}
