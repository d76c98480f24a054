import { open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/errors.ts'
import { newUuid } from '../base/ids.ts'
import { syncDirectory } from '../base/files/sync-directory.ts'
import { generateApiKey, hashApiKey, isApiKey, shortKey } from './api-keys.ts'
import type { IdentityStore, Organization, Workspace } from './identity-store.ts'
import type { KeyGrant } from './principal.ts'

/** The stores and settings of a start. */
export interface BootstrapOptions {
  dataDir: string
  bootstrapKey?: string | undefined
  clock: Clock
}

/** The identity with which the server starts. */
export interface Bootstrapped {
  organization: Organization
  workspace: Workspace
  /** The grant of all requests if AUTH is off. */
  grant: KeyGrant
  /** The given key, or the generated one in the data directory; undefined if neither is stored. */
  key: string | undefined
  created: boolean
  /** Whether `key` was made now because the store had no valid admin key of all workspaces. */
  replaced: boolean
  /** Whether BOOTSTRAP_API_KEY was ignored, because it is not a key of this data directory. */
  ignoredBootstrapKey: boolean
}

const KEY_FILE = 'api-key'

async function keptKey(dataDir: string): Promise<string | undefined> {
  const text = await readFile(join(dataDir, KEY_FILE), 'utf8').catch(() => '')
  return isApiKey(text.trim()) ? text.trim() : undefined
}

/** Writes the key to its file before the database stores it, so that a crash in between cannot lose it. */
async function keepNewKey(dataDir: string): Promise<string> {
  const key = generateApiKey('personal')
  const file = await open(join(dataDir, KEY_FILE), 'w', 0o600)
  try {
    await file.chmod(0o600)
    await file.writeFile(`${key}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await syncDirectory(dataDir)
  return key
}

async function createFirst(store: IdentityStore, key: string, now: number): Promise<boolean> {
  const organization = { id: newUuid(), display_name: 'Default organization', created_at: now }
  return await store.createFirst({
    organization,
    workspace: { id: newUuid(), organization_id: organization.id, display_name: 'Default', created_at: now },
    user: { id: newUuid(), email: 'admin@localhost', full_name: 'Admin' },
    key: { id: newUuid(), ...toStored(key), description: 'First admin key' },
  })
}

function toStored(key: string): { key_hash: string; short_key: string } {
  return { key_hash: hashApiKey(key), short_key: shortKey(key) }
}

/**
 * Creates a key for an organization without a valid admin key of all workspaces. The key belongs to the oldest admin
 * of all workspaces. If there is none, it belongs to the oldest admin, who then gets all workspaces.
 */
async function replaceAdminKey(store: IdentityStore, organization_id: string, options: BootstrapOptions) {
  const members = await store.members(organization_id)
  const admins = members.filter(({ role }) => role === 'admin')
  const admin = admins.find(({ workspace_ids }) => workspace_ids === null) ?? admins[0]
  if (admin === undefined) throw new AppError('internal', { message: 'The organization has no admin.' })
  const { user_id } = admin
  const at = options.clock.now()
  for (;;) {
    const key = await keepNewKey(options.dataDir)
    const stored = {
      id: newUuid(),
      ...toStored(key),
      organization_id,
      user_id,
      description: 'Admin key made at a start that found none',
      role: 'admin' as const,
      read_only: false,
      workspace_ids: null,
      default_workspace_id: null,
      created_at: at,
      expires_at: null,
      last_used_at: null,
    }
    const actor = { api_key_id: stored.id, short_key: stored.short_key, user_id, at }
    await store.changeMember(organization_id, user_id, { workspace_ids: null }, actor)
    if (await store.createKey(stored, actor)) return
  }
}

/**
 * BOOTSTRAP_API_KEY, otherwise the key in the data directory, if the store has it; undefined if the store has neither.
 */
async function storedKey(store: IdentityStore, options: BootstrapOptions): Promise<string | undefined> {
  for (const key of [options.bootstrapKey, await keptKey(options.dataDir)]) {
    if (key !== undefined && (await store.findKey(hashApiKey(key))) !== undefined) return key
  }
  return undefined
}

/**
 * On an empty store: creates the organization, the workspace "Default", an admin and an admin key. The key is
 * `bootstrapKey`, or a generated one that is stored in `dataDir/api-key` (mode 0600). If another process is
 * faster, the records of that process are used. On any other store nothing is changed, unless no valid admin
 * key of all workspaces is left. Then an admin gets a new key, stored in the same place, because without it
 * no key could be created.
 */
export async function bootstrapIdentity(
  store: IdentityStore,
  options: BootstrapOptions,
): Promise<Bootstrapped> {
  const { dataDir, bootstrapKey, clock } = options
  let created = false
  if ((await store.firstOrganization()) === undefined) {
    const key = bootstrapKey ?? (await keptKey(dataDir)) ?? (await keepNewKey(dataDir))
    created = await createFirst(store, key, clock.now())
    if (!created && bootstrapKey === undefined) await rm(join(dataDir, KEY_FILE), { force: true })
  }
  const organization = await store.firstOrganization()
  if (organization === undefined) throw new AppError('internal', { message: 'There is no organization.' })
  const found = await store.adminGrant(organization.id)
  const replaced = found === undefined || (found.expires_at !== null && found.expires_at <= clock.now())
  if (replaced) await replaceAdminKey(store, organization.id, options)
  const grant = replaced ? await store.adminGrant(organization.id) : found
  const workspaces = await store.workspaces(organization.id)
  const workspace = workspaces.find(({ id }) => id === grant?.default_workspace_id) ?? workspaces[0]
  if (workspace === undefined || grant === undefined) {
    throw new AppError('internal', { message: 'The organization has no workspace or no admin key.' })
  }
  const key = await storedKey(store, options)
  return {
    organization,
    workspace,
    grant,
    key,
    created,
    replaced,
    ignoredBootstrapKey: bootstrapKey !== undefined && key !== bootstrapKey,
  }
}
