import { AppError } from '../../../../base/errors.ts'
import type { UsageLimit } from '../../../../usage/limits.ts'
import { bodyFault } from '../../../body/json.ts'
import { uuidParameter } from '../../../api/parameters.ts'
import { actorOf } from '../../actor.ts'
import { route, type PlatformCaller, type PlatformRoute } from '../../route.ts'
import { boundedPage, NEXT_PAGE, OFFSET_QUERY } from '../../next-page.ts'
import { assertUnmanaged, OVERRIDE_QUERY } from '../../request/own-change.ts'

const TAG = 'Usage'

function toAnswer({ organization_id: _whose, created_at, updated_at, ...limit }: UsageLimit) {
  return {
    ...limit,
    created_at: new Date(created_at).toISOString(),
    updated_at: new Date(updated_at).toISOString(),
  }
}

/**
 * The workspace or key to limit, if the caller may see it. @throws AppError not_found, invalid_request,
 * workspace_required
 */
async function limited(
  { deps, principal }: PlatformCaller,
  body: { workspace_id?: string | null; api_key_id?: string | null },
): Promise<Pick<UsageLimit, 'workspace_id' | 'api_key_id'>> {
  const workspace_id = body.workspace_id?.toLowerCase() ?? null
  const api_key_id = body.api_key_id?.toLowerCase() ?? null
  if (workspace_id !== null && api_key_id !== null) {
    throw bodyFault([
      { code: 'value_error', path: 'api_key_id', message: 'cannot be given with workspace_id' },
    ])
  }
  if (api_key_id === null) {
    if (workspace_id === null && !principal.workspace_chosen) throw new AppError('workspace_required')
    const id = workspace_id ?? principal.workspace_id
    if (!principal.workspace_ids.includes(id)) throw new AppError('not_found')
    return { workspace_id: id, api_key_id: null }
  }
  const { short_keys } = await deps.identity.names(principal.organization_id)
  if (!short_keys.has(api_key_id)) throw new AppError('not_found')
  return { workspace_id: null, api_key_id }
}

type Limited = Pick<UsageLimit, 'workspace_id' | 'api_key_id'>

async function limitOf(
  { deps, principal }: PlatformCaller,
  isWanted: (limit: UsageLimit) => boolean,
): Promise<UsageLimit | undefined> {
  return (await deps.usageLimits.list(principal.organization_id)).find(isWanted)
}

/** Writes a change of a limit to the audit (TEAM-14). */
async function audit(
  { deps, principal }: PlatformCaller,
  { workspace_id, api_key_id }: Limited,
  change: Record<'from' | 'to', UsageLimit | undefined>,
): Promise<void> {
  const shown = (limit: UsageLimit | undefined) =>
    limit ? { traces_per_month: limit.limit_value, mode: limit.mode } : null
  const details = { from: shown(change.from), to: shown(change.to) }
  if (JSON.stringify(details.from) === JSON.stringify(details.to)) return
  const action = workspace_id === null ? 'key.limits' : 'workspace.limits'
  const subject_id = workspace_id ?? api_key_id ?? ''
  const { organization_id } = principal
  await deps.identity.recordChange(
    { organization_id, action, subject_id, details },
    actorOf(principal, deps.clock),
  )
}

/** @throws AppError managed_by_file for a workspace whose limits a set-up file names */
async function assertOwnLimit(
  { deps, principal }: PlatformCaller,
  { workspace_id: id }: Limited,
  override: boolean,
): Promise<void> {
  if (id !== null) await assertUnmanaged(deps, principal, { kind: 'workspace_limits', id, override })
}

/** Monthly limits of workspaces and keys, under LangSmith's path. */
export function usageLimitRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'GET',
      path: '/usage-limits',
      needs: 'organization:read',
      whole_organization: true,
      summary: 'Monthly limits of workspaces and keys',
      tag: TAG,
      query: OFFSET_QUERY,
      description: NEXT_PAGE,
      reply: 'usage-limit-list',
      async handle({ deps, principal, query }) {
        const limits = await deps.usageLimits.list(principal.organization_id)
        const seen = limits.filter(
          ({ workspace_id }) => workspace_id === null || principal.workspace_ids.includes(workspace_id),
        )
        return boundedPage(seen.map(toAnswer), query.offset)
      },
    }),
    route({
      method: 'PUT',
      path: '/usage-limits',
      needs: 'organization:manage',
      whole_organization: true,
      summary: 'Set the monthly limit of a workspace or a key',
      tag: TAG,
      query: OVERRIDE_QUERY,
      body: 'usage-limit-write',
      reply: 'usage-limit',
      errors: ['not_found', 'managed_by_file'],
      async handle(context) {
        const { deps, principal, body, query } = context
        const subject = await limited(context, body)
        await assertOwnLimit(context, subject, query.override)
        const { workspace_id, api_key_id } = subject
        const from = await limitOf(
          context,
          (one) => one.workspace_id === workspace_id && one.api_key_id === api_key_id,
        )
        const limit = await deps.usageLimits.put({
          organization_id: principal.organization_id,
          ...subject,
          limit_type: 'monthly_traces',
          limit_value: body.limit_value,
          mode: body.mode ?? 'hard',
        })
        await audit(context, subject, { from, to: limit })
        return { body: toAnswer(limit) }
      },
    }),
    route({
      method: 'DELETE',
      path: '/usage-limits/{id}',
      needs: 'organization:manage',
      whole_organization: true,
      summary: 'Remove a monthly limit',
      tag: TAG,
      params: { id: uuidParameter('The limit') },
      query: OVERRIDE_QUERY,
      reply: 'bytes',
      status: 204,
      errors: ['not_found', 'managed_by_file'],
      async handle(context) {
        const { deps, principal, params, query } = context
        const from = await limitOf(context, ({ id }) => id === params.id)
        if (from !== undefined) await assertOwnLimit(context, from, query.override)
        if (from === undefined || !(await deps.usageLimits.remove(principal.organization_id, params.id)))
          throw new AppError('not_found')
        await audit(context, from, { from, to: undefined })
        return { body: '' }
      },
    }),
  ]
}
