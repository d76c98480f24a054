import { Readable } from 'node:stream'
import { textCell } from '../../../../base/text/csv-cell.ts'
import type { AuditEntry, IdentityStore } from '../../../../identity/identity-store.ts'
import {
  choiceParameter,
  integerParameter,
  optionalTimeParameter,
  optionalUuidParameter,
  repeatedTextParameter,
  textParameter,
  timeParameter,
} from '../../../api/parameters.ts'
import { actorOf } from '../../actor.ts'
import { defined } from '../../request/body-fields.ts'
import { actionsOf, operationOf, toAuditRecord, toOcsf } from '../../../../identity/audit-forms.ts'
import { boundedPage } from '../../next-page.ts'
import { route, type PlatformRoute } from '../../route.ts'

const PAGE = { minimum: 1, maximum: 100, otherwise: 50 }

const EXPORT_PAGE = 500
const COLUMNS = ['Time', 'Id', 'Action', 'Subject Id', 'API Key Id', 'Short Key', 'User Id', 'Details']

function ndjsonLine(entry: AuditEntry): string {
  return `${JSON.stringify(toAuditRecord(entry))}\n`
}

/** A line of RFC 4180, in which no cell is a formula. */
function csvLine(entry: AuditEntry): string {
  const { time, id, action, subject_id, actor, details } = toAuditRecord(entry)
  const who = [actor.api_key_id, actor.short_key, actor.user_id].map((text) => text ?? '')
  return `${[time, id, action, subject_id, ...who, JSON.stringify(details)].map(textCell).join(',')}\r\n`
}

/** The entries that were written before the export began, oldest first. */
async function* exported(
  identity: Pick<IdentityStore, 'audit' | 'auditSpan'>,
  organization_id: string,
  { csv, ...times }: { csv: boolean; from?: number; to?: number },
): AsyncGenerator<string> {
  const [newest] = await identity.audit(organization_id, { limit: 1 })
  if (csv) yield `${COLUMNS.join(',')}\r\n`
  if (newest === undefined) return
  for (let after: number | undefined = 0; after !== undefined; ) {
    const span = { after, last: newest.id, limit: EXPORT_PAGE, ...times }
    const page: (AuditEntry & { seq: number })[] = await identity.auditSpan(organization_id, span)
    yield page.map(csv ? csvLine : ndjsonLine).join('')
    after = page.length < EXPORT_PAGE ? undefined : page.at(-1)?.seq
  }
}

function exportRoute(): PlatformRoute {
  return route({
    method: 'GET',
    path: '/orgs/current/audit-logs/export',
    needs: 'organization:read',
    whole_organization: true,
    summary: 'All records of the audit, oldest first, as lines of JSON or CSV',
    description: 'Records that are written meanwhile are not in it. The export itself is recorded.',
    tag: 'Identity',
    query: {
      format: choiceParameter('The form of the lines.', ['ndjson', 'csv']),
      start_time: optionalTimeParameter('Only records at or after it.'),
      end_time: optionalTimeParameter('Only records before it.'),
    },
    reply: 'bytes',
    reply_type: 'application/x-ndjson',
    other_types: ['text/csv'],
    async handle({ deps, principal, query: { format, start_time, end_time } }) {
      const { organization_id } = principal
      const [from, to] = [start_time, end_time].map((time) => time && Math.ceil(time))
      const details = defined({ format, from, to })
      const change = { organization_id, action: 'audit.export', subject_id: organization_id, details }
      await deps.identity.recordChange(change, actorOf(principal, deps.clock))
      const csv = format === 'csv'
      const lines = exported(deps.identity, organization_id, { csv, ...defined({ from, to }) })
      const type = csv ? 'text/csv; charset=utf-8' : 'application/x-ndjson'
      const headers = {
        'content-type': type,
        'content-disposition': `attachment; filename="audit.${format}"`,
      }
      return { headers, body: Readable.from(lines) }
    },
  })
}

/** LangSmith's page sizes. */
const OCSF_PAGE = { minimum: 1, maximum: 100, otherwise: 10 }

/** LangSmith's route: the audit as events of OCSF. */
function ocsfRoute(): PlatformRoute {
  return route({
    method: 'GET',
    path: '/audit-logs',
    needs: 'organization:read',
    whole_organization: true,
    summary: 'The audit as events of OCSF (API Activity, class 6003), newest first',
    description:
      'As LangSmith answers. `operations` takes its names, such as `create_service_key`, and actions of Weir; a page may then have fewer records than `limit`.',
    tag: 'Identity',
    query: {
      start_time: timeParameter('Only records at or after it.'),
      end_time: timeParameter('Only records up to it.'),
      operations: repeatedTextParameter('Only these operations.'),
      workspace_id: optionalUuidParameter('Only changes of this workspace.'),
      limit: integerParameter('Maximum number of records.', OCSF_PAGE),
      cursor: optionalUuidParameter('`cursor` of the page before.'),
    },
    reply: 'audit-log-ocsf-page',
    async handle({ deps, principal, query: { limit, cursor, operations, workspace_id, ...times } }) {
      const [from, to] = [Math.ceil(times.start_time), Math.floor(times.end_time) + 1]
      const wanted = operations.length > 0 ? operations : undefined
      const actions = wanted && actionsOf(wanted)
      const sent = defined({ before: cursor, subject_id: workspace_id, actions })
      // One entry more than requested shows whether there is a next page.
      const found = await deps.identity.audit(principal.organization_id, {
        limit: limit + 1,
        from,
        to,
        ...sent,
      })
      const page = found.slice(0, limit)
      const items = page
        .filter((entry) => wanted?.some((one) => one === entry.action || one === operationOf(entry)) ?? true)
        .map(toOcsf)
      return { body: { items, cursor: found.length > limit ? (page.at(-1)?.id ?? null) : null } }
    },
  })
}

/** The history of changes of workspaces, members and keys. */
export function auditRoutes(): PlatformRoute[] {
  return [
    exportRoute(),
    ocsfRoute(),
    route({
      method: 'GET',
      path: '/orgs/current/audit-logs',
      needs: 'organization:read',
      whole_organization: true,
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
        const { body: audit_logs } = boundedPage(entries.slice(0, limit).map(toAuditRecord), 0)
        const next = audit_logs.length < entries.length ? (audit_logs.at(-1)?.id ?? null) : null
        return { body: { audit_logs, cursors: { next } } }
      },
    }),
  ]
}
