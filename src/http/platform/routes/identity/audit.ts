import type { AuditEntry } from '../../../../identity/identity-store.ts'
import {
  integerParameter,
  optionalTimeParameter,
  optionalUuidParameter,
  textParameter,
} from '../../../api/parameters.ts'
import { defined } from '../../request/body-fields.ts'
import { boundedPage } from '../../next-page.ts'
import { route, type PlatformRoute } from '../../route.ts'

const PAGE = { minimum: 1, maximum: 100, otherwise: 50 }

function toEntry(entry: AuditEntry) {
  const { id, at, action, subject_id, details } = entry
  const { actor_api_key_id: api_key_id, actor_short_key: short_key, actor_user_id: user_id } = entry
  const key = short_key === '' ? { api_key_id: null, short_key: null } : { api_key_id, short_key }
  const actor = { ...key, user_id }
  return { id, time: new Date(at).toISOString(), action, subject_id, actor, details }
}

/** The history of changes of workspaces, members and keys. */
export function auditRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'GET',
      path: '/orgs/current/audit-logs',
      summary: 'Changes of workspaces, members and keys, newest first',
      tag: 'Identity',
      query: {
        limit: integerParameter('Maximum number of records.', PAGE),
        cursor: optionalUuidParameter('`cursors.next` of the page before.'),
        action: textParameter('Only these changes: `key.create`, or `key` for all of keys.'),
        actor: optionalUuidParameter('Only changes by this user or API key.'),
        subject: textParameter('Only changes of what has this id.'),
        start_time: optionalTimeParameter('Only changes at or after it.'),
        end_time: optionalTimeParameter('Only changes before it.'),
      },
      reply: 'audit-log-page',
      async handle({ deps, principal, query: { limit, cursor, ...filters } }) {
        // One entry more than requested shows whether there is a next page.
        const { action, actor, subject: subject_id } = filters
        const [from, to] = [filters.start_time, filters.end_time].map((time) => time && Math.ceil(time))
        const sent = defined({ before: cursor, action, actor, subject_id, from, to })
        const page = { limit: limit + 1, ...sent }
        const entries = await deps.identity.audit(principal.organization_id, page)
        const { body: audit_logs } = boundedPage(entries.slice(0, limit).map(toEntry), 0)
        const next = audit_logs.length < entries.length ? (audit_logs.at(-1)?.id ?? null) : null
        return { body: { audit_logs, cursors: { next } } }
      },
    }),
  ]
}
