import type { Alert, AlertFields } from '../../../../alerts/alert.ts'
import { AppError } from '../../../../base/errors.ts'
import { webhookTarget } from '../../../../runs/webhooks/rules.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { parseFilter } from '../../../../trace/filter/filter.ts'
import { optionalUuidParameter, uuidParameter } from '../../../api/parameters.ts'
import { actorOf } from '../../actor.ts'
import { found } from '../../request/body-fields.ts'
import { type PlatformCaller, type PlatformContext, type PlatformRoute, route } from '../../route.ts'

const TAG = 'Alerts'
const ALERT = { id: uuidParameter('Id of the alert.') }
/** What a caller needs to see whole addresses: the permission to set them. */
const WRITES = 'projects:create'

const timeOf = (ms: number): string => new Date(ms).toISOString()
const timeOrNull = (ms: number | null): string | null => (ms === null ? null : timeOf(ms))

function toJson(alert: Alert, { permissions }: Pick<PlatformContext['principal'], 'permissions'>) {
  const { webhook_url, project_id, workspace_id: _workspace, version: _version, modified_at, ...rest } = alert
  const shown = webhook_url === null || permissions.has(WRITES) ? webhook_url : new URL(webhook_url).origin
  return {
    ...rest,
    session_id: project_id,
    webhook_url: shown,
    since: timeOrNull(alert.since),
    evaluated_at: timeOrNull(alert.evaluated_at),
    delivery_at: timeOrNull(alert.delivery_at),
    created_at: timeOf(alert.created_at),
    updated_at: timeOf(modified_at),
  }
}

/** The fields that a body has. @throws AppError invalid_request for an invalid filter or address */
function fieldsOf(body: SchemaTypes['alert-update']): Partial<AlertFields> {
  const { name, filter: text, webhook_url, subject, figure, comparison } = body
  const { threshold, window_minutes, no_data, is_enabled } = body
  const filter = text?.trim() || null
  if (filter !== null) parseFilter(filter)
  return {
    ...(name !== undefined && { name: name.trim() }),
    ...(text !== undefined && { filter }),
    ...(webhook_url !== undefined && { webhook_url: webhook_url && webhookTarget(webhook_url) }),
    ...(subject !== undefined && { subject }),
    ...(figure !== undefined && { figure }),
    ...(comparison !== undefined && { comparison }),
    ...(threshold !== undefined && { threshold }),
    ...(window_minutes !== undefined && { window_minutes }),
    ...(no_data !== undefined && { no_data }),
    ...(is_enabled !== undefined && { is_enabled }),
  }
}

/** Records a change. The address of a webhook is not in it, because it may be a secret. */
async function record({ deps, principal }: PlatformCaller, action: string, alert: Alert): Promise<void> {
  const { id, workspace_id, project_id, name, figure, comparison, threshold, is_enabled } = alert
  const details = { workspace_id, project_id, name, figure, comparison, threshold, is_enabled }
  const change = { organization_id: principal.organization_id, action, subject_id: id, details }
  await deps.identity.recordChange(change, actorOf(principal, deps.clock))
}

function foundAlert(alert: Alert | undefined): Alert {
  if (alert === undefined) throw new AppError('not_found', { message: 'Alert not found' })
  return alert
}

function listRoute(): PlatformRoute {
  return route({
    method: 'GET',
    path: '/alerts',
    needs: 'projects:read',
    tag: TAG,
    summary: 'List the alerts of the workspace with their states',
    description: 'By name; a workspace has at most 100.',
    query: { session: optionalUuidParameter('Only alerts of this project.') },
    reply: 'alert-list',
    async handle({ deps, principal, query: { session } }) {
      const alerts = await deps.alerts.list(principal.workspace_id, session)
      return { body: alerts.map((alert) => toJson(alert, principal)) }
    },
  })
}

/** Rules about figures of runs. */
export function alertRoutes(): PlatformRoute[] {
  return [
    listRoute(),
    route({
      method: 'POST',
      path: '/alerts',
      needs: 'projects:create',
      tag: TAG,
      summary: 'Create an alert',
      description: 'It is evaluated at once, and then every minute.',
      body: 'alert-create',
      reply: 'alert',
      errors: ['not_found', 'conflict', 'quota_reached'],
      async handle({ deps, principal, body }) {
        const { workspace_id, user_id: created_by } = principal
        const { name, figure, comparison, threshold, window_minutes } = body
        found(await deps.projects.get(workspace_id, body.session_id), 'Session')
        const fields: AlertFields = {
          ...{ name, figure, comparison, threshold, window_minutes },
          ...{ subject: 'traces', filter: null, no_data: 'keep', webhook_url: null, is_enabled: true },
          ...fieldsOf(body),
        }
        const owner = { workspace_id, project_id: body.session_id, created_by }
        const alert = await deps.alerts.create(owner, fields)
        deps.evaluateAlerts()
        await record({ deps, principal }, 'alert.create', alert)
        return { body: toJson(alert, principal) }
      },
    }),
    route({
      method: 'PATCH',
      path: '/alerts/{id}',
      needs: 'projects:create',
      tag: TAG,
      params: ALERT,
      summary: 'Change an alert',
      body: 'alert-update',
      reply: 'alert',
      errors: ['not_found', 'conflict'],
      async handle({ deps, principal, params: { id }, body }) {
        const { workspace_id } = principal
        const alert = foundAlert(await deps.alerts.update({ workspace_id, id }, fieldsOf(body)))
        deps.evaluateAlerts()
        await record({ deps, principal }, 'alert.change', alert)
        return { body: toJson(alert, principal) }
      },
    }),
    route({
      method: 'DELETE',
      path: '/alerts/{id}',
      needs: 'projects:create',
      tag: TAG,
      params: ALERT,
      summary: 'Delete an alert',
      description: 'A firing one is told as resolved.',
      reply: 'empty-object',
      errors: ['not_found'],
      async handle({ deps, principal, params: { id } }) {
        const alert = foundAlert(await deps.alerts.delete({ workspace_id: principal.workspace_id, id }))
        deps.evaluateAlerts()
        await record({ deps, principal }, 'alert.delete', alert)
        return { body: {} }
      },
    }),
  ]
}
