import { newUuid } from '../../../src/base/ids.ts'
import type { Sample } from './sample.ts'
import { ALERT } from './tenant-world.ts'

const at = (path: string, body?: unknown) => ({ path, ...(body !== undefined && { body }) })

/** Views and alerts of a project. */
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
