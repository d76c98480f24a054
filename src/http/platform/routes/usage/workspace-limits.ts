import { AppError } from '../../../../base/errors.ts'
import { parseSize } from '../../../../base/text/byte-size.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import type { IngestLimit } from '../../../../usage/limits.ts'
import { bodyFault } from '../../../body/json.ts'
import { uuidParameter } from '../../../api/parameters.ts'
import { actorOf } from '../../actor.ts'
import { assertUnmanaged, OVERRIDE_QUERY } from '../../request/own-change.ts'
import { route, type PlatformCaller, type PlatformRoute } from '../../route.ts'

const TAG = 'Usage'

type Rate = Pick<IngestLimit, 'runs_per_minute' | 'bytes_per_minute'>

/** As in the schema. */
const MAX_BYTES = 10 ** 12

const NO_RATE: Rate = { runs_per_minute: null, bytes_per_minute: null }

function rateOf({ runs_per_minute, bytes_per_minute }: Rate): Rate {
  return { runs_per_minute, bytes_per_minute }
}

/** The rate with the given fields changed. */
function changed(
  before: Rate,
  change: NonNullable<SchemaTypes['workspace-limits-write']['ingest']> | null,
): Rate {
  if (change === null) return NO_RATE
  const { runs_per_minute = before.runs_per_minute, bytes_per_minute = before.bytes_per_minute } = change
  if (typeof bytes_per_minute !== 'string') return { runs_per_minute, bytes_per_minute }
  const bytes = parseSize(bytes_per_minute) ?? 0
  if (bytes === 0 || bytes > MAX_BYTES) {
    const message = `is not a size from 1 byte to ${MAX_BYTES} bytes`
    throw bodyFault([{ code: 'value_error', path: 'bytes_per_minute', message }])
  }
  return { runs_per_minute, bytes_per_minute: bytes }
}

async function readLimits(
  { deps, principal }: PlatformCaller,
  id: string,
): Promise<SchemaTypes['workspace-limits']> {
  const [monthly, limits] = await Promise.all([
    deps.usageLimits.list(principal.organization_id),
    deps.ingestLimits.list(id),
  ])
  const { requests, last_at } = deps.rates.refused(id)
  return {
    traces_per_month: monthly.find(({ workspace_id }) => workspace_id === id)?.limit_value ?? null,
    ingest: rateOf(limits.find(({ api_key_id }) => api_key_id === null) ?? NO_RATE),
    keys: limits.flatMap(({ api_key_id, ...rate }) =>
      api_key_id === null ? [] : [{ api_key_id, ingest: rateOf(rate) }],
    ),
    refused: { requests, last_at: last_at === null ? null : new Date(last_at).toISOString() },
  }
}

async function managedMark({ deps, principal }: PlatformCaller, id: string): Promise<{ managed?: true }> {
  const managed = await deps.managed.ids(principal.organization_id, 'workspace_limits')
  return managed.has(id) ? { managed: true } : {}
}

async function setMonthly(
  { deps, principal }: PlatformCaller,
  workspace_id: string,
  traces: number | null,
): Promise<void> {
  const { organization_id } = principal
  if (traces !== null) {
    const fields = { organization_id, workspace_id, api_key_id: null } as const
    await deps.usageLimits.put({ ...fields, limit_type: 'monthly_traces', limit_value: traces, mode: 'hard' })
    return
  }
  const limits = await deps.usageLimits.list(organization_id)
  const known = limits.find((limit) => limit.workspace_id === workspace_id)
  if (known !== undefined) await deps.usageLimits.remove(organization_id, known.id)
}

/** @throws AppError not_found for a key of another organization, invalid_request for a wrong size: nothing was changed */
async function setRates(
  { deps, principal }: PlatformCaller,
  workspace_id: string,
  { ingest, keys = [] }: SchemaTypes['workspace-limits-write'],
): Promise<void> {
  const { short_keys } = await deps.identity.names(principal.organization_id)
  const wanted = keys.map(({ api_key_id, ingest: rate }) => ({ api_key_id: api_key_id.toLowerCase(), rate }))
  if (wanted.some(({ api_key_id }) => !short_keys.has(api_key_id))) throw new AppError('not_found')
  const limits = await deps.ingestLimits.list(workspace_id)
  // All are read before the first is stored, so that a mistake changes nothing.
  const after = [{ api_key_id: null, rate: ingest }, ...wanted].flatMap(({ api_key_id, rate }) => {
    const before = limits.find((limit) => limit.api_key_id === api_key_id) ?? NO_RATE
    return rate === undefined ? [] : [{ workspace_id, api_key_id, ...changed(before, rate) }]
  })
  for (const limit of after) await deps.ingestLimits.put(limit)
}

/** The limits of one workspace: traces a month, and runs and bytes a minute. */
export function workspaceLimitRoutes(): PlatformRoute[] {
  const params = { id: uuidParameter('Id of the workspace.') }
  return [
    route({
      method: 'GET',
      path: '/workspaces/{id}/limits',
      needs: 'workspaces:read',
      summary: 'Limits of a workspace, and what was refused because of them',
      tag: TAG,
      params,
      reply: 'workspace-limits',
      errors: ['not_found'],
      async handle(context) {
        const {
          principal,
          params: { id },
        } = context
        if (!principal.workspace_ids.includes(id)) throw new AppError('not_found')
        return { body: { ...(await readLimits(context, id)), ...(await managedMark(context, id)) } }
      },
    }),
    route({
      method: 'PUT',
      path: '/workspaces/{id}/limits',
      needs: 'organization:manage',
      whole_organization: true,
      summary: 'Set limits of a workspace',
      description: 'All servers use them within seconds.',
      tag: TAG,
      params,
      query: OVERRIDE_QUERY,
      body: 'workspace-limits-write',
      reply: 'workspace-limits',
      errors: ['not_found', 'managed_by_file'],
      async handle(context) {
        const {
          deps,
          principal,
          params: { id },
          query: { override },
          body,
        } = context
        if (!principal.workspace_ids.includes(id)) throw new AppError('not_found')
        // Limits of keys are not in the file.
        if (body.ingest !== undefined || body.traces_per_month !== undefined)
          await assertUnmanaged(deps, principal, { kind: 'workspace_limits', id, override })
        const before = await readLimits(context, id)
        await setRates(context, id, body)
        if (body.traces_per_month !== undefined) await setMonthly(context, id, body.traces_per_month)
        const { refused, ...after } = await readLimits(context, id)
        const { refused: _then, ...from } = before
        const change = { action: 'workspace.limits', subject_id: id, details: { from, to: after } }
        if (JSON.stringify(from) !== JSON.stringify(after))
          await deps.identity.recordChange(
            { organization_id: principal.organization_id, ...change },
            actorOf(principal, deps.clock),
          )
        return { body: { ...after, refused, ...(await managedMark(context, id)) } }
      },
    }),
  ]
}
