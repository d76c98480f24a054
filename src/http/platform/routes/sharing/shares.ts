import { parseUuid } from '../../../../base/ids.ts'
import type { ShareSubject } from '../../../../ingest/share-store.ts'
import type { TracePlace } from '../../../../query/selected-reads.ts'
import { requiredTextParameter, uuidParameter } from '../../../api/parameters.ts'
import { found } from '../../request/body-fields.ts'
import { type PlatformContext, type PlatformRoute, route } from '../../route.ts'
import { projectsOf } from '../v2/asked-runs.ts'
import { ofThread, placeOf, recordSharing, TAG } from './sharing.ts'

type Caller = Pick<PlatformContext, 'deps' | 'principal'>

/** Shares the subject unless it is shared already; returns its token. */
async function share({ deps, principal }: Caller, subject: ShareSubject, wanted?: string): Promise<string> {
  const { token, isNew } = await deps.sharing.shares.create(principal.workspace_id, subject, wanted)
  if (isNew) await recordSharing({ deps, principal }, 'share', subject)
  return token
}

/** Shares the trace of a TraceRun, in the project of its root. */
async function shareTrace(
  { deps, principal }: Caller,
  { trace_id, project_id: own }: TracePlace,
  wanted?: string,
): Promise<string> {
  const root = await deps.selectedReads.place(principal.workspace_id, trace_id)
  const project_id = root?.project_id ?? own
  return share({ deps, principal }, { kind: 'trace', project_id, trace_id }, wanted)
}

async function unshareTrace(
  { deps, principal }: Caller,
  trace_id: string,
  project_id: string,
): Promise<void> {
  const removed = await deps.sharing.shares.removeTraces(principal.workspace_id, [trace_id])
  const subject = { kind: 'trace', project_id, trace_id } as const
  if (removed > 0) await recordSharing({ deps, principal }, 'unshare', subject)
}

const RUN = { id: uuidParameter('Id of a run of the trace.') }
const SHARED_WHOLE = 'The whole trace is shared. Sharing again answers the same token.'

function runShareRoutes(): PlatformRoute[] {
  const about = { path: '/runs/{id}/share', tag: TAG, params: RUN }
  return [
    route({
      ...about,
      method: 'PUT',
      summary: 'Share the trace of a run with everyone who has the token',
      description: SHARED_WHOLE,
      body: 'share-write',
      reply: 'share',
      errors: ['not_found', 'quota_reached', 'store_unavailable'],
      async handle({ deps, principal, params: { id }, body }) {
        const place = await placeOf(deps, principal.workspace_id, id)
        const share_token = await shareTrace({ deps, principal }, place, parseUuid(body.share_token))
        return { body: { share_token } }
      },
    }),
    route({
      ...about,
      method: 'GET',
      summary: 'The token of a run whose trace is shared, else null',
      reply: 'share-of-run',
      errors: ['not_found', 'store_unavailable'],
      async handle({ deps, principal: { workspace_id }, params: { id } }) {
        const { trace_id } = found(await deps.selectedReads.place(workspace_id, id), 'Run')
        const tokens = await deps.sharing.shares.tokensOfTraces(workspace_id, [trace_id])
        const share_token = tokens.get(trace_id)
        return { body: share_token === undefined ? null : { run_id: trace_id, share_token } }
      },
    }),
    route({
      ...about,
      method: 'DELETE',
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
        const share_token = await shareTrace({ deps, principal }, found(isThere ? place : undefined, 'Run'))
        return { body: { share_token } }
      },
    }),
    route({
      method: 'DELETE',
      // `id` is the trace's id; the parameter has the same name as in the other routes of this path.
      path: '/v2/runs/{id}/share',
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
      summary: 'Share all traces of a thread with everyone who has the token',
      description: 'Also those that are added later. Sharing again returns the same token.',
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
        return { body: { share_token: await share({ deps, principal }, subject) } }
      },
    }),
    route({
      ...about,
      method: 'GET',
      summary: 'The token of a thread, if it is shared',
      query: PROJECT,
      reply: 'share-of-thread',
      errors: ['not_found'],
      async handle({ deps, principal: { workspace_id }, params: { id }, query: { project_id } }) {
        await projectsOf(deps, workspace_id, [project_id])
        const share_token = await deps.sharing.shares.tokenOfThread(workspace_id, project_id, id)
        return { body: share_token === undefined ? {} : { share_token } }
      },
    }),
    route({
      ...about,
      method: 'DELETE',
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
