import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/errors.ts'
import { newUuid } from '../base/ids.ts'
import { generateApiKey, hashApiKey, isApiKey, shortKey } from './api-keys.ts'
import type { IdentityStore, Organization, Workspace } from './identity-store.ts'
import type { KeyGrant } from './principal.ts'

/** Where the first start looks and what it was told. */
export interface BootstrapOptions {
  dataDir: string
  /** BOOTSTRAP_API_KEY. */
  bootstrapKey?: string | undefined
  clock: Clock
}

/** The identity that the server starts with. */
export interface Bootstrapped {
  organization: Organization
  workspace: Workspace
  /** Who requests act for when AUTH is off. */
  grant: KeyGrant
  /** The generated key as kept in the data directory, or the one that was given now; undefined when neither is known. */
  key: string | undefined
  /** Organization, workspace and key were made now. */
  created: boolean
  /** A BOOTSTRAP_API_KEY was given that is not a key of this data directory: it was not taken. */
  ignoredBootstrapKey: boolean
}

const KEY_FILE = 'api-key'

async function keptKey(dataDir: string): Promise<string | undefined> {
  const text = await readFile(join(dataDir, KEY_FILE), 'utf8').catch(() => '')
  return isApiKey(text.trim()) ? text.trim() : undefined
}

/** Keeps the key before the database knows it, so that a crash in between cannot lose it. */
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
  return key
}

async function createFirst(store: IdentityStore, key: string, now: number): Promise<boolean> {
  const organization = { id: newUuid(), display_name: 'Default organization', created_at: now }
  return await store.createFirst({
    organization,
    workspace: { id: newUuid(), organization_id: organization.id, display_name: 'Default', created_at: now },
    user: { id: newUuid(), email: 'admin@localhost', full_name: 'Admin' },
    key: {
      id: newUuid(),
      key_hash: hashApiKey(key),
      short_key: shortKey(key),
      description: 'First admin key',
    },
  })
}

/**
 * On an empty store: creates the organization, the workspace "Default", an admin and an admin key, which is
 * `bootstrapKey` or else generated and kept in `dataDir/api-key` (mode 0600). On any other store: changes nothing.
 */
export async function bootstrapIdentity(
  store: IdentityStore,
  options: BootstrapOptions,
): Promise<Bootstrapped> {
  const { dataDir, bootstrapKey, clock } = options
  let created = false
  let key = bootstrapKey
  if ((await store.firstOrganization()) === undefined) {
    key ??= (await keptKey(dataDir)) ?? (await keepNewKey(dataDir))
    created = await createFirst(store, key, clock.now())
  }
  const ignoredBootstrapKey =
    bootstrapKey !== undefined && (await store.findKey(hashApiKey(bootstrapKey))) === undefined
  if (!created && (bootstrapKey === undefined || ignoredBootstrapKey)) key = await keptKey(dataDir)
  const organization = await store.firstOrganization()
  const grant = organization && (await store.adminGrant(organization.id))
  const workspaces = organization === undefined ? [] : await store.workspaces(organization.id)
  const workspace = workspaces.find(({ id }) => id === grant?.default_workspace_id) ?? workspaces[0]
  if (organization === undefined || workspace === undefined || grant === undefined) {
    throw new AppError('internal', {
      message: 'The identity store holds no organization with a workspace and an admin key.',
    })
  }
  return { organization, workspace, grant, key, created, ignoredBootstrapKey }
}
