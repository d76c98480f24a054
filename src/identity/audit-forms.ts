import type { SchemaTypes } from '../schema/types.gen.ts'
import type { AuditEntry } from './identity-store.ts'

/** An entry of the audit as the API, exports and AUDIT_LOG show it. */
interface AuditRecord {
  id: string
  /** ISO 8601. */
  time: string
  action: string
  subject_id: string
  actor: { api_key_id: string | null; short_key: string | null; user_id: string | null }
  details: Record<string, unknown>
}

export function toAuditRecord(entry: Omit<AuditEntry, 'organization_id'>): AuditRecord {
  const { id, at, action, subject_id, details } = entry
  const { actor_api_key_id: api_key_id, actor_short_key: short_key, actor_user_id: user_id } = entry
  const key = short_key === '' ? { api_key_id: null, short_key: null } : { api_key_id, short_key }
  const actor = { ...key, user_id }
  return { id, time: new Date(at).toISOString(), action, subject_id, actor, details }
}

/**
 * Names of LangSmith's operations for actions. The first of two is for a member's token, the other for a service key.
 * Actions that LangSmith does not have keep their names.
 */
const OPERATIONS: Readonly<Record<string, string | readonly [personal: string, service: string]>> = {
  'key.create': ['create_personal_access_token', 'create_service_key'],
  'key.delete': ['delete_personal_access_token', 'delete_service_key'],
  'key.change': 'update_service_key',
  'key.limits': 'update_usage_limit',
  'workspace.create': 'create_workspace',
  'workspace.rename': 'update_workspace',
  'workspace.delete': 'delete_workspace',
  'workspace.limits': 'update_usage_limit',
  'member.change': 'update_org_member',
  'member.suspend': 'update_org_member',
  'member.resume': 'update_org_member',
  'member.remove': 'delete_org_member',
  'invite.create': 'invite_user_to_org',
  'invite.accept': 'claim_pending_organization_invite',
  'invite.revoke': 'delete_org_pending_member',
  'session.create': 'login',
  'session.sign_in': 'login',
  'secret.create': 'update_workspace_secrets',
  'secret.update': 'update_workspace_secrets',
  'secret.delete': 'delete_workspace_secret',
  'scim_token.create': 'create_scim_token',
  'scim_token.delete': 'delete_scim_token',
  'scim_group.create': 'create_scim_group',
  'scim_group.change': 'update_scim_group',
  'scim_group.delete': 'delete_scim_group',
  'audit.export': 'get_audit_logs',
  'usage.export': 'export_granular_usage_traces_csv',
}

/** LangSmith's name of what an entry records, else the entry's action. */
export function operationOf({ action, details }: Pick<AuditEntry, 'action' | 'details'>): string {
  const name = OPERATIONS[action] ?? action
  if (typeof name === 'string') return name
  return typeof details['user_id'] === 'string' ? name[0] : name[1]
}

/** The actions that may have one of these names as their operation. */
export function actionsOf(operations: readonly string[]): string[] {
  const named = Object.entries(OPERATIONS).filter(([, name]) =>
    [name].flat().some((one) => operations.includes(one)),
  )
  return [...new Set([...operations, ...named.map(([action]) => action)])]
}

/** Ids of OCSF's activities. */
const ACTIVITIES = [
  { id: 1, name: 'Create', of: /\.(create|add|accept|share|sign_in)$/ },
  { id: 2, name: 'Read', of: /\.export$/ },
  { id: 3, name: 'Update', of: /\.(change|rename|update|limits|suspend|resume|renew|apply)$/ },
  { id: 4, name: 'Delete', of: /\.(delete|remove|revoke|unshare)$/ },
] as const
const OTHER = { id: 99, name: 'Other' } as const
/** The class of OCSF. */
const API_ACTIVITY = 6003

/** An entry as an event API Activity of OCSF 1.7 (class 6003), in the form of LangSmith's audit logs. */
export function toOcsf(entry: AuditEntry): SchemaTypes['audit-log-ocsf-page']['items'][number] {
  const { action, details, organization_id, subject_id } = entry
  const { id, time, actor } = toAuditRecord(entry)
  const activity = ACTIVITIES.find(({ of }) => of.test(action)) ?? OTHER
  const has_failed = details['result'] === 'refused'
  const operation_name = operationOf(entry)
  const ip = typeof details['address'] === 'string' ? details['address'] : null
  return {
    class_uid: API_ACTIVITY,
    class_name: 'API Activity',
    category_uid: 6,
    category_name: 'Application Activity',
    severity_id: 99,
    type_uid: API_ACTIVITY * 100 + activity.id,
    activity_id: activity.id,
    activity_name: activity.name,
    status_id: has_failed ? 2 : 1,
    status: has_failed ? 'Failure' : 'Success',
    time: entry.at,
    metadata: { uid: id, product: { name: 'Weir', vendor_name: 'Weir' }, version: '1.7.0' },
    api: { operation: operation_name },
    // The audit has changes, not requests.
    http_request: { http_method: '', url: { path: '' } },
    http_response: { code: null },
    actor: { user: { uid: actor.user_id, credential_uid: actor.api_key_id } },
    src_endpoint: { ip, port: null, intermediate_ips: null },
    resources: [{ uid: subject_id }],
    unmapped: {
      original_audit_log: {
        id,
        operation_name,
        operation_succeeded: !has_failed,
        request_time: time,
        api_key_id: actor.api_key_id,
        user_id: actor.user_id,
        ls_user_id: actor.user_id,
        organization_id,
        workspace_id: action.startsWith('workspace.') ? subject_id : null,
        enrichments: null,
      },
      action,
      details,
    },
  }
}
