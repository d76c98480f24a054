import { parseUuid } from '../../../../base/ids.ts'
import type { Share, ShareSubject, ShareWish } from '../../../../ingest/share-store.ts'
import type { TracePlace } from '../../../../query/selected-reads.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { requiredTextParameter, uuidParameter } from '../../../api/parameters.ts'
import { bodyFault } from '../../../body/json.ts'
import { bodyTime, found } from '../../request/body-fields.ts'
import { type PlatformCaller, type PlatformRoute, route } from '../../route.ts'
import { projectsOf } from '../v2/asked-runs.ts'
import { ofThread, placeOf, recordSharing, TAG } from './sharing.ts'

/** What a body says about the share. @throws AppError invalid_request for an end that is over */
function wishOf(body: { share_token?: unknown; expires_at?: string | null }, now: number): ShareWish {
  const token = parseUuid(body.share_token)
  const time = bodyTime(body, 'expires_at')
  const expires_at = time === undefined ? body.expires_at : Math.floor(time / 1000)
  if (typeof expires_at === 'number' && expires_at <= now)
    throw bodyFault([{ code: 'value_error', path: 'expires_at', message: 'must be in the future' }])
  return {
    ...(token !== undefined && { token }),
    ...(typeof expires_at !== 'string' && expires_at !== undefined && { expires_at }),
  }
}

/** `expires_at` is left out of a share that never ends, as LangSmith has none. */
function shownShare({ token, expires_at }: Share): SchemaTypes['share'] {
  return {
    share_token: token,
    ...(expires_at !== null && { expires_at: new Date(expires_at).toISOString() }),
  }
}

/** Shares the subject unless it is shared already, and sets when the share ends if the body says so. */
async function share(
  { deps, principal }: PlatformCaller,
  subject: ShareSubject,
  body: Parameters<typeof wishOf>[0],
): Promise<SchemaTypes['share']> {
  const wish = wishOf(body, deps.clock.now())
  const made = await deps.sharing.shares.create(principal.workspace_id, subject, wish)
  const { expires_at } = made.share
  // An end that was set on a known share is a change of who can read it.
  if (made.isNew || wish.expires_at !== undefined)
    await recordSharing({ deps, principal }, 'share', subject, expires_at)
  return shownShare(made.share)
}

/** Shares the trace of a TraceRun, in the project of its root. */
async function shareTrace(
  { deps, principal }: PlatformCaller,
  { trace_id, project_id: own }: TracePlace,
  body: Parameters<typeof wishOf>[0],
): Promise<SchemaTypes['share']> {
  const root = await deps.selectedReads.place(principal.workspace_id, trace_id)
  const project_id = root?.project_id ?? own
  return share({ deps, principal }, { kind: 'trace', project_id, trace_id }, body)
}

async function unshareTrace(
  { deps, principal }: PlatformCaller,
  trace_id: string,
  project_id: string,
): Promise<void> {
  const removed = await deps.sharing.shares.removeTraces(principal.workspace_id, [trace_id])
  const subject = { kind: 'trace', project_id, trace_id } as const
  if (removed > 0) await recordSharing({ deps, principal }, 'unshare', subject)
}

const RUN = { id: uuidParameter('Id of a run of the trace.') }
const SHARED_WHOLE =
  'The whole trace is shared. Sharing again answers the same token; with `expires_at` it then ends at that time, or never for null.'

function runShareRoutes(): PlatformRoute[] {
  const about = { path: '/runs/{id}/share', tag: TAG, params: RUN }
  return [
    route({
      ...about,
      method: 'PUT',
      needs: 'runs:create',
      summary: 'Share the trace of a run with everyone who has the token',
      description: SHARED_WHOLE,
      body: 'share-write',
      reply: 'share',
      errors: ['not_found', 'quota_reached', 'store_unavailable'],
      async handle({ deps, principal, params: { id }, body }) {
        const place = await placeOf(deps, principal.workspace_id, id)
        return { body: await shareTrace({ deps, principal }, place, body) }
      },
    }),
    route({
      ...about,
      method: 'GET',
      needs: 'runs:read',
      summary: 'The token of a run whose trace is shared, else null',
      reply: 'share-of-run',
      errors: ['not_found', 'store_unavailable'],
      async handle({ deps, principal: { workspace_id }, params: { id } }) {
        const { trace_id } = found(await deps.selectedReads.place(workspace_id, id), 'Run')
        const shares = await deps.sharing.shares.ofTraces(workspace_id, [trace_id])
        const known = shares.get(trace_id)
        return { body: known === undefined ? null : { run_id: trace_id, ...shownShare(known) } }
      },
    }),
    route({
      ...about,
      method: 'DELETE',
      needs: 'runs:create',
      summary: 'End the share of the trace of a run',
      reply: 'empty-object',
      errors: ['not_found', 'store_unavailable'],
      async handle({ deps, principal, params: { id } }) {
        const place = found(await deps.selectedReads.place(principal.workspace_id, id), 'Run')
        await unshareTrace({ deps, principal }, place.trace_id, place.project_id)
        return { body: {} }
      },
    }),
  ]
}

function runShareV2Routes(): PlatformRoute[] {
  return [
    route({
      method: 'POST',
      path: '/v2/runs/{id}/share',
      needs: 'runs:create',
      summary: 'Share the trace of a run with everyone who has the token',
      description: SHARED_WHOLE,
      tag: TAG,
      params: RUN,
      body: 'run-share-write',
      reply: 'share',
      errors: ['not_found', 'quota_reached', 'store_unavailable'],
      async handle({ deps, principal, params: { id }, body }) {
        const place = await placeOf(deps, principal.workspace_id, id)
        const isThere =
          place.project_id === parseUuid(body.session_id) && place.trace_id === parseUuid(body.trace_id)
        const trace = found(isThere ? place : undefined, 'Run')
        return { body: await shareTrace({ deps, principal }, trace, body) }
      },
    }),
    route({
      method: 'DELETE',
      // `id` is the trace's id; the parameter has the same name as in the other routes of this path.
      path: '/v2/runs/{id}/share',
      needs: 'runs:create',
      summary: 'End the share of a trace; its id is in the path',
      tag: TAG,
      params: { id: uuidParameter('Id of the trace.') },
      body: 'run-share-delete',
      reply: 'bytes',
      status: 204,
      errors: ['not_found'],
      async handle({ deps, principal, params: { id }, body }) {
        const [project_id = ''] = await projectsOf(deps, principal.workspace_id, [body.session_id])
        await unshareTrace({ deps, principal }, id, project_id)
        return { body: '' }
      },
    }),
  ]
}

const THREAD = { id: requiredTextParameter('Id of the thread.') }
const PROJECT = { project_id: uuidParameter('The project of the thread.') }

function threadShareRoutes(): PlatformRoute[] {
  const about = { path: '/v2/threads/{id}/share', tag: TAG, params: THREAD }
  return [
    route({
      ...about,
      method: 'POST',
      needs: 'runs:create',
      summary: 'Share all traces of a thread with everyone who has the token',
      description:
        'Also those that are added later. Sharing again returns the same token; with `expires_at` it then ends at that time, or never for null.',
      body: 'thread-share-write',
      reply: 'share',
      errors: ['not_found', 'quota_reached', 'store_unavailable'],
      async handle({ deps, principal, params: { id: thread_id }, body }) {
        const [project_id = ''] = await projectsOf(deps, principal.workspace_id, [body.project_id])
        const where = { project_ids: [project_id], trace_filter: ofThread(thread_id) }
        const look = (): Promise<boolean> => deps.selectedReads.has(principal.workspace_id, where)
        const isThere = (await look()) || (await deps.ingester.settled().then(look))
        found(isThere || undefined, 'Thread')
        const subject = { kind: 'thread', project_id, thread_id } as const
        return { body: await share({ deps, principal }, subject, body) }
      },
    }),
    route({
      ...about,
      method: 'GET',
      needs: 'runs:read',
      summary: 'The token of a thread, if it is shared',
      query: PROJECT,
      reply: 'share-of-thread',
      errors: ['not_found'],
      async handle({ deps, principal: { workspace_id }, params: { id }, query: { project_id } }) {
        await projectsOf(deps, workspace_id, [project_id])
        const known = await deps.sharing.shares.ofThread(workspace_id, project_id, id)
        return { body: known === undefined ? {} : shownShare(known) }
      },
    }),
    route({
      ...about,
      method: 'DELETE',
      needs: 'runs:create',
      summary: 'End the share of a thread',
      query: PROJECT,
      reply: 'bytes',
      status: 204,
      errors: ['not_found'],
      async handle({ deps, principal, params: { id }, query: { project_id } }) {
        await projectsOf(deps, principal.workspace_id, [project_id])
        const removed = await deps.sharing.shares.removeThread(principal.workspace_id, project_id, id)
        const subject = { kind: 'thread', project_id, thread_id: id } as const
        if (removed) await recordSharing({ deps, principal }, 'unshare', subject)
        return { body: '' }
      },
    }),
  ]
}

/** Sharing traces and threads. */
export function shareRoutes(): PlatformRoute[] {
  return [...runShareRoutes(), ...runShareV2Routes(), ...threadShareRoutes()]
}
