import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../base/errors.ts'
import { newUuid } from '../../base/ids.ts'
import { hashApiKey, isApiKey, shortKey } from '../../identity/api-keys.ts'
import type { ApiKey } from '../../identity/identity-store.ts'
import type { ReadSecret, Section, SetupStep, WantedKey } from '../setup.ts'
import { changeStep, type SetupRun, workspaceIds } from '../setup-run.ts'
import { sorted } from './members.ts'

const SECTION = 'service_keys'
const HOUR_MS = 3_600_000
const OVERLAP_HOURS = 24

/** The keys by their names in the document. @throws AppError invalid_request for a missing or unsuitable key */
export async function readSecrets(
  items: readonly WantedKey[],
  readSecret: ReadSecret,
): Promise<ReadonlyMap<string, string>> {
  const secrets = new Map<string, string>()
  for (const { name, key } of items) {
    if (secrets.has(name))
      throw new AppError('invalid_request', { message: `service_keys: "${name}" stands there twice.` })
    const secret = await readSecret(name, key)
    if (!isApiKey(secret)) {
      const message = `service_keys: the key of "${name}" must have 16 to 128 letters, digits, - or _.`
      throw new AppError('invalid_request', { message })
    }
    secrets.set(name, secret)
  }
  return secrets
}

/**
 * Creates and changes service keys, each known by its name, which is its description. Another secret replaces the key:
 * the old one expires after the overlap.
 */
export async function applyServiceKeys(
  run: SetupRun,
  { items, prune }: Section<WantedKey>,
  secrets: ReadonlyMap<string, string>,
): Promise<SetupStep[]> {
  const { stores, organization_id, actor } = run
  const steps: SetupStep[] = []
  for (const item of items) steps.push(await applyKey(run, item, secrets.get(item.name)!))
  const named = new Set(items.map(({ name }) => name))
  const all = await stores.identity.apiKeys(organization_id, 'service')
  const shown = new Set(items.map(({ name }) => shortKey(secrets.get(name)!)))
  // A key that was replaced expires, and may be deleted before.
  const current = all.filter((key) => named.has(key.description) && shown.has(key.short_key))
  await stores.managed.replace(
    organization_id,
    'service_key',
    current.map(({ id }) => id),
  )
  if (!prune) return steps
  for (const { id, description, short_key } of all.filter((key) => !named.has(key.description))) {
    await stores.identity.deleteKey(organization_id, 'service', id, actor)
    steps.push({ section: SECTION, name: description || short_key, action: 'delete', fields: [] })
  }
  return steps
}

async function applyKey(run: SetupRun, item: WantedKey, secret: string): Promise<SetupStep> {
  const { stores, organization_id, actor } = run
  const { name, role } = item
  const wanted = { role, workspace_ids: await workspaceIds(run, item.workspaces), expires_at: null }
  const key_hash = hashApiKey(secret)
  const grant = (await stores.identity.findKey(key_hash))?.grant
  const all = await stores.identity.apiKeys(organization_id, 'service')
  const current = all.find(({ id }) => id === grant?.api_key_id)
  if (grant !== undefined && current?.description !== name)
    throw new AppError('conflict', { message: `service_keys: the key of "${name}" is another key already.` })
  const isOther = ({ id, description }: ApiKey): boolean => description === name && id !== current?.id
  const others = all.filter((key) => isOther(key) && key.expires_at === null)
  if (current !== undefined) {
    const fields = (['role', 'workspace_ids', 'expires_at'] as const).filter(
      (field) => !isDeepStrictEqual(sorted(wanted[field]), sorted(current[field])),
    )
    if (fields.length > 0) {
      assertLasting(run, name)
      await change(run, current.id, fields, wanted)
    }
    const replaced = await expireOthers(run, item, others)
    return changeStep(SECTION, name, replaced > 0 ? [...fields, 'key'] : fields)
  }
  assertLasting(run, name)
  const made = await stores.identity.createKey(
    {
      id: newUuid(),
      organization_id,
      key_hash,
      short_key: shortKey(secret),
      description: name,
      user_id: null,
      read_only: false,
      default_workspace_id: wanted.workspace_ids?.[0] ?? null,
      created_at: actor.at,
      last_used_at: null,
      ...wanted,
    },
    actor,
  )
  if (!made) {
    const message = `service_keys: the key of "${name}" was used before, or looks like another one in lists. Choose a new one.`
    throw new AppError('conflict', { message })
  }
  return (await expireOthers(run, item, others)) > 0
    ? changeStep(SECTION, name, ['key'])
    : { section: SECTION, name, action: 'create', fields: [] }
}

/** Service keys of a set-up never expire. @throws AppError forbidden for a caller whose own key does (IDENTITY-8) */
function assertLasting({ expires_at }: SetupRun, name: string): void {
  if (expires_at === null) return
  const message = `Forbidden: the key "${name}" would be valid longer than yours.`
  throw new AppError('forbidden', { message })
}

/** Lets keys that had the name before expire after the overlap; returns their number. */
async function expireOthers(run: SetupRun, item: WantedKey, others: readonly ApiKey[]): Promise<number> {
  const expires_at = run.actor.at + Math.round((item.overlap_hours ?? OVERLAP_HOURS) * HOUR_MS)
  for (const { id, role, workspace_ids } of others)
    await change(run, id, ['expires_at'], { role, workspace_ids, expires_at })
  return others.length
}

async function change(
  { stores, organization_id, actor }: SetupRun,
  id: string,
  fields: readonly ('role' | 'workspace_ids' | 'expires_at')[],
  to: Parameters<SetupRun['stores']['changeKey']>[1],
): Promise<void> {
  await stores.changeKey(id, to)
  const details = Object.fromEntries(fields.map((field) => [field, to[field]]))
  await stores.identity.recordChange(
    { organization_id, action: 'key.change', subject_id: id, details },
    actor,
  )
}
