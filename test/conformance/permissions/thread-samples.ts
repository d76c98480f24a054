import { at, type Sample } from './sample.ts'
import { THREAD } from './tenant-world.ts'

/** Calls of the routes of threads of traces. */
export const THREAD_SAMPLES: Readonly<Record<string, Sample>> = {
  'POST /v2/threads/{id}/share': {
    reach: 'request',
    call: ({ objects }) => at(`/v2/threads/${THREAD}/share`, { project_id: objects.session_id }),
  },
  'GET /v2/threads/{id}/share': {
    reach: 'request',
    call: ({ objects }) => at(`/v2/threads/${THREAD}/share?project_id=${objects.session_id}`),
  },
  'DELETE /v2/threads/{id}/share': {
    reach: 'request',
    call: ({ objects }) => at(`/v2/threads/${THREAD}/share?project_id=${objects.session_id}`),
  },
  'POST /v2/threads/query': {
    reach: 'request',
    call: ({ objects }) => at('/v2/threads/query', { project_id: objects.session_id }),
  },
  'POST /v2/threads/stats': {
    reach: 'request',
    call: ({ objects }) =>
      at('/v2/threads/stats', { project_id: objects.session_id, select: ['TRACE_COUNT'] }),
  },
  'GET /v2/threads/{id}/traces': {
    reach: 'request',
    call: ({ objects }) => at(`/v2/threads/${THREAD}/traces?project_id=${objects.session_id}`),
  },
  'GET /v2/threads/{id}/stats': {
    reach: 'request',
    call: ({ objects }) => at(`/v2/threads/${THREAD}/stats?session_id=${objects.session_id}&selects=TURNS`),
  },
  'POST /runs/group': {
    reach: 'request',
    call: ({ objects }) => at('/runs/group', { session_id: objects.session_id, group_by: 'conversation' }),
  },
}
