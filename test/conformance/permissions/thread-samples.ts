import type { Sample } from './sample.ts'
import { THREAD } from './tenant-world.ts'

/** Calls of the routes of threads of traces. */
export const THREAD_SAMPLES: Readonly<Record<string, Sample>> = {
  'POST /v2/threads/{id}/share': {
    reach: 'request',
    path: { id: THREAD },
    body: (o) => ({ project_id: o.session_id }),
  },
  'GET /v2/threads/{id}/share': {
    reach: 'request',
    path: { id: THREAD },
    query: (o) => `project_id=${o.session_id}`,
  },
  'DELETE /v2/threads/{id}/share': {
    reach: 'request',
    path: { id: THREAD },
    query: (o) => `project_id=${o.session_id}`,
  },
  'POST /v2/threads/query': { reach: 'request', body: (o) => ({ project_id: o.session_id }) },
  'POST /v2/threads/stats': {
    reach: 'request',
    body: (o) => ({ project_id: o.session_id, select: ['TRACE_COUNT'] }),
  },
  'GET /v2/threads/{id}/traces': {
    reach: 'request',
    path: { id: THREAD },
    query: (o) => `project_id=${o.session_id}`,
  },
  'GET /v2/threads/{id}/stats': {
    reach: 'request',
    path: { id: THREAD },
    query: (o) => `session_id=${o.session_id}&selects=TURNS`,
  },
  'POST /runs/group': {
    reach: 'request',
    body: (o) => ({ session_id: o.session_id, group_by: 'conversation' }),
  },
}
