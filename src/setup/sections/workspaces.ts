import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../base/errors.ts'
import { newUuid } from '../../base/ids.ts'
import { parseSize } from '../../base/text/byte-size.ts'
import type { Section, SetupStep, WantedWorkspace } from '../setup.ts'
import { assertOnce, changeStep, type SetupRun } from '../setup-run.ts'

const SECTION = 'workspaces'

/** Creates missing workspaces, and sets their retention and limits. A workspace is known by its name. */
export async function applyWorkspaces(
  run: SetupRun,
  { items, prune }: Section<WantedWorkspace>,
): Promise<SetupStep[]> {
  const { stores, organization_id, actor } = run
  const known = await stores.identity.workspaces(organization_id)
  const steps: SetupStep[] = []
  const named = new Set<string>()
  const ids: { all: string[]; limited: string[] } = { all: [], limited: [] }
  for (const item of items) {
    const name = item.name.trim()
    assertOnce(SECTION, name, named)
    named.add(name)
    const [found, other] = known.filter(({ display_name }) => display_name === name)
    if (other !== undefined)
      throw new AppError('conflict', { message: `workspaces: several are named "${name}".` })
    const id = found?.id ?? newUuid()
    ids.all.push(id)
    if (item.limits !== undefined) ids.limited.push(id)
    if (found === undefined)
      await stores.identity.createWorkspace(
        { id, organization_id, display_name: name, created_at: actor.at },
        actor,
      )
    const limits = await setLimits(run, id, item)
    if (limits.length > 0)
      await stores.identity.recordChange(
        { organization_id, action: 'workspace.limits', subject_id: id, details: { to: item.limits } },
        actor,
      )
    const fields = [...(await setRetention(run, id, item)), ...limits]
    if (found === undefined) steps.push({ section: SECTION, name, action: 'create', fields })
    else steps.push(changeStep(SECTION, name, fields))
  }
  await stores.managed.replace(organization_id, 'workspace', ids.all)
  await stores.managed.replace(organization_id, 'workspace_limits', ids.limited)
  if (!prune) return steps
  for (const { id, display_name } of known.filter((one) => !named.has(one.display_name))) {
    await stores.identity.deleteWorkspace(organization_id, id, actor)
    steps.push({ section: SECTION, name: display_name, action: 'delete', fields: [] })
  }
  return steps
}

async function setRetention({ stores }: SetupRun, id: string, item: WantedWorkspace): Promise<string[]> {
  if (item.retention_days === undefined) return []
  if ((await stores.retention.of(id)) === item.retention_days) return []
  await stores.retention.put(id, item.retention_days)
  return ['retention_days']
}

async function setLimits(run: SetupRun, id: string, { name, limits }: WantedWorkspace): Promise<string[]> {
  const fields: string[] = []
  if (limits?.traces_per_month !== undefined && (await setMonthly(run, id, limits.traces_per_month)))
    fields.push('limits.traces_per_month')
  if (limits?.keys !== undefined)
    throw new AppError('invalid_request', {
      message: `workspaces: ${name}: limits of keys have no place here.`,
    })
  if (limits?.ingest !== undefined && (await setRate(run, id, limits.ingest))) fields.push('limits.ingest')
  return fields
}

async function setMonthly(
  { stores, organization_id }: SetupRun,
  workspace_id: string,
  limit_value: number | null,
): Promise<boolean> {
  const limits = await stores.usageLimits.list(organization_id)
  const known = limits.find((limit) => limit.workspace_id === workspace_id)
  if ((known?.limit_value ?? null) === limit_value) return false
  if (limit_value === null) return await stores.usageLimits.remove(organization_id, known!.id)
  const mode = known?.mode ?? 'hard'
  const whose = { organization_id, workspace_id, api_key_id: null }
  await stores.usageLimits.put({ ...whose, limit_type: 'monthly_traces', limit_value, mode })
  return true
}

type Rate = NonNullable<NonNullable<WantedWorkspace['limits']>['ingest']>

async function setRate({ stores }: SetupRun, workspace_id: string, sent: Rate | null): Promise<boolean> {
  const known = (await stores.ingestLimits.list(workspace_id)).find(({ api_key_id }) => api_key_id === null)
  const none = { workspace_id, api_key_id: null, runs_per_minute: null, bytes_per_minute: null }
  const before = known ?? none
  const after = sent === null ? none : { ...before, ...rateOf(sent) }
  if (isDeepStrictEqual(before, after)) return false
  await stores.ingestLimits.put(after)
  return true
}

/** As in the schema. */
const MAX_BYTES = 10 ** 12

/** @throws AppError invalid_request for a text that is no size in these bounds */
function rateOf({ bytes_per_minute: size, ...runs }: Rate) {
  if (size === undefined) return runs
  const bytes = typeof size === 'string' ? (parseSize(size) ?? 0) : size
  if (bytes === 0 || (bytes ?? 0) > MAX_BYTES) {
    const message = `bytes_per_minute must be a size from 1 byte to ${MAX_BYTES} bytes.`
    throw new AppError('invalid_request', { message })
  }
  return { ...runs, bytes_per_minute: bytes }
}
