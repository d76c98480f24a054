import type { AuditEntry } from '../../auth/identity-store.ts'
import { integerParameter, optionalUuidParameter } from '../parameters.ts'
import { type Route, route } from '../route.ts'

const PAGE = { minimum: 1, maximum: 100, otherwise: 50 }

function toEntry(entry: AuditEntry) {
  const { id, at, action, subject_id, details } = entry
  const { actor_api_key_id: api_key_id, actor_short_key: short_key, actor_user_id: user_id } = entry
  const actor = { api_key_id, short_key, user_id }
  return { id, time: new Date(at).toISOString(), action, subject_id, actor, details }
}

/** Who changed workspaces, members and keys. */
export function auditRoutes(): Route[] {
  return [
    route({
      method: 'GET',
      path: '/orgs/current/audit-logs',
      summary: 'Changes of workspaces, members and keys, newest first',
      tag: 'Identity',
      query: {
        limit: integerParameter('At most so many.', PAGE),
        cursor: optionalUuidParameter('`cursors.next` of the page before.'),
      },
      reply: 'audit-log-page',
      async handle({ deps, principal, query: { limit, cursor } }) {
        // One more than asked for tells whether there is a next page.
        const page = { limit: limit + 1, ...(cursor !== undefined && { before: cursor }) }
        const entries = await deps.identity.audit(principal.organization_id, page)
        const shown = entries.slice(0, limit)
        const next = entries.length > limit ? (shown.at(-1)?.id ?? null) : null
        return { body: { audit_logs: shown.map(toEntry), cursors: { next } } }
      },
    }),
  ]
}
