import { AppError } from '../base/errors.ts'
import type { Actor } from '../identity/identity-store.ts'
import type { SetupStep, SetupStores } from './setup.ts'

/** What every section of one run needs. */
export interface SetupRun {
  stores: SetupStores
  organization_id: string
  actor: Actor
  /** When the key of the caller expires, epoch milliseconds; null for never. */
  expires_at: number | null
}

/** The ids of the named workspaces; null for all. @throws AppError invalid_request for an unknown name */
export async function workspaceIds(
  { stores, organization_id }: SetupRun,
  names: readonly string[] | undefined,
): Promise<string[] | null> {
  if (names === undefined) return null
  const all = await stores.identity.workspaces(organization_id)
  return [...new Set(names)].map((name) => {
    const found = all.filter(({ display_name }) => display_name === name)
    if (found.length === 1) return found[0]!.id
    const message =
      found.length === 0 ? `There is no workspace "${name}".` : `Several workspaces are named "${name}".`
    throw new AppError('invalid_request', { message })
  })
}

/** The ids of the named workspaces, or of all. */
export async function eachWorkspace(run: SetupRun, names: readonly string[] | undefined): Promise<string[]> {
  const ids = await workspaceIds(run, names)
  if (ids !== null) return ids
  return (await run.stores.identity.workspaces(run.organization_id)).map(({ id }) => id)
}

/** @throws AppError invalid_request if the name is among `before`: two items would change one record in turn */
export function assertOnce(
  section: string,
  name: string,
  before: { has(name: string): boolean },
  key = name,
): void {
  if (!before.has(key)) return
  throw new AppError('invalid_request', { message: `${section}: "${name}" stands there twice.` })
}

/** A step for a record that exists: `change` if fields differ, else `keep`. */
export function changeStep(section: string, name: string, fields: string[]): SetupStep {
  return { section, name, action: fields.length > 0 ? 'change' : 'keep', fields }
}
