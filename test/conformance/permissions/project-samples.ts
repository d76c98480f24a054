import { newUuid } from '../../../src/base/ids.ts'
import type { Sample } from './sample.ts'
import { ALERT } from './tenant-world.ts'

/** Of other people's comments, which only some may change. */
const OF_OTHERS = [200, 403]

/** Views and alerts of a project, and comments on its runs. */
export const PROJECT_SAMPLES: Readonly<Record<string, Sample>> = {
  'GET /sessions/{id}/views': { reach: 'request', ids: ['session_id'] },
  'POST /sessions/{id}/views': {
    reach: 'request',
    ids: ['session_id'],
    body: () => ({ display_name: newUuid() }),
  },
  'PATCH /sessions/{id}/views/{view_id}': {
    reach: 'request',
    ids: ['session_id', 'view_id'],
    body: { params: {} },
  },
  'DELETE /sessions/{id}/views/{view_id}': { reach: 'request', ids: ['session_id', 'view_id'] },
  'GET /traces/{trace_id}/comments': { ids: ['run_id'] },
  'GET /comments/mentions': {},
  'POST /runs/{id}/comments': { reach: 'request', ids: ['run_id'], body: { text: 'late' } },
  'PATCH /comments/{id}': {
    reach: 'request',
    ids: ['comment_id'],
    body: { text: 'later' },
    status: OF_OTHERS,
  },
  'DELETE /comments/{id}': { reach: 'request', ids: ['comment_id'], status: OF_OTHERS },
  'GET /alerts': { query: (o) => `session=${o.session_id}` },
  'POST /alerts': {
    reach: 'request',
    body: (o) => ({ ...ALERT, session_id: o.session_id, name: newUuid() }),
  },
  'PATCH /alerts/{id}': { reach: 'request', ids: ['alert_id'], body: { threshold: '2' } },
  'DELETE /alerts/{id}': { reach: 'request', ids: ['alert_id'] },
}
