import { newUuid } from '../../../src/base/ids.ts'
import { at, type Sample } from './sample.ts'
import { ALERT } from './tenant-world.ts'

/** Of other people's comments, which only some may change. */
const OF_OTHERS = [200, 403]

/** Views and alerts of a project, and comments on its runs. */
export const PROJECT_SAMPLES: Readonly<Record<string, Sample>> = {
  'GET /sessions/{id}/views': {
    reach: 'request',
    call: ({ objects }) => at(`/sessions/${objects.session_id}/views`),
  },
  'POST /sessions/{id}/views': {
    reach: 'request',
    call: ({ objects }) => at(`/sessions/${objects.session_id}/views`, { display_name: newUuid() }),
  },
  'PATCH /sessions/{id}/views/{view_id}': {
    reach: 'request',
    call: ({ objects }) => at(`/sessions/${objects.session_id}/views/${objects.view_id}`, { params: {} }),
  },
  'DELETE /sessions/{id}/views/{view_id}': {
    reach: 'request',
    call: ({ objects }) => at(`/sessions/${objects.session_id}/views/${objects.view_id}`),
  },
  'GET /traces/{trace_id}/comments': { call: ({ objects }) => at(`/traces/${objects.run_id}/comments`) },
  'GET /comments/mentions': { isFixed: true, call: () => at('/comments/mentions') },
  'POST /runs/{id}/comments': {
    reach: 'request',
    call: ({ objects }) => at(`/runs/${objects.run_id}/comments`, { text: 'late' }),
  },
  'PATCH /comments/{id}': {
    reach: 'request',
    call: ({ objects }) => at(`/comments/${objects.comment_id}`, { text: 'later' }),
    status: () => OF_OTHERS,
  },
  'DELETE /comments/{id}': {
    reach: 'request',
    call: ({ objects }) => at(`/comments/${objects.comment_id}`),
    status: () => OF_OTHERS,
  },
  'GET /alerts': { call: ({ objects }) => at(`/alerts?session=${objects.session_id}`) },
  'POST /alerts': {
    reach: 'request',
    call: ({ objects }) => at('/alerts', { ...ALERT, session_id: objects.session_id, name: newUuid() }),
  },
  'PATCH /alerts/{id}': {
    reach: 'request',
    call: ({ objects }) => at(`/alerts/${objects.alert_id}`, { threshold: '2' }),
  },
  'DELETE /alerts/{id}': { reach: 'request', call: ({ objects }) => at(`/alerts/${objects.alert_id}`) },
}
