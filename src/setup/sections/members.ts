import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../base/errors.ts'
import { newUuid } from '../../base/ids.ts'
import type { Member } from '../../identity/identity-store.ts'
import type { Section, SetupStep, WantedMember } from '../setup.ts'
import { assertOnce, changeStep, type SetupRun, workspaceIds } from '../setup-run.ts'

const SECTION = 'members'

/** Adds and changes members, each known by the email. The last admin of all workspaces cannot be demoted or removed. */
export async function applyMembers(
  run: SetupRun,
  { items, prune }: Section<WantedMember>,
): Promise<SetupStep[]> {
  const { stores, organization_id, actor } = run
  const known = await stores.identity.members(organization_id)
  const steps: SetupStep[] = []
  const named = new Set<string>()
  const ids: string[] = []
  for (const item of items) {
    const email = item.email.toLowerCase()
    assertOnce(SECTION, email, named)
    named.add(email)
    const workspace_ids = await workspaceIds(run, item.workspaces)
    const wanted = { role: item.role, workspace_ids, ...(item.full_name && { full_name: item.full_name }) }
    const found = known.find((member) => member.email === email)
    if (found === undefined) {
      const member = { organization_id, user_id: newUuid(), email, created_at: actor.at }
      const added = await stores.identity.addMember({ full_name: null, ...member, ...wanted }, actor)
      ids.push(added.user_id)
      steps.push({ section: SECTION, name: email, action: 'create', fields: [] })
      continue
    }
    ids.push(found.user_id)
    const fields = (Object.keys(wanted) as (keyof typeof wanted)[]).filter(
      (name) => !isDeepStrictEqual(sorted(wanted[name]), sorted(found[name])),
    )
    if (fields.length > 0) assertProven(found)
    if (fields.length > 0) await stores.identity.changeMember(organization_id, found.user_id, wanted, actor)
    steps.push(changeStep(SECTION, email, fields))
  }
  await stores.managed.replace(organization_id, 'member', ids)
  if (!prune) return steps
  for (const { user_id, email } of known.filter((member) => !named.has(member.email))) {
    await stores.identity.removeMember(organization_id, user_id, actor)
    steps.push({ section: SECTION, name: email, action: 'delete', fields: [] })
  }
  return steps
}

/**
 * Refuses to give rights to a member who has only said that the address is its own, with an invitation to nobody in
 * particular. @throws AppError conflict
 */
function assertProven({ email, email_claimed }: Member): void {
  if (email_claimed !== true) return
  const message = `members: nobody has proven the address "${email}", which was given with an invitation without an address. Remove that member, or change it under Settings, Members.`
  throw new AppError('conflict', { message })
}

/** The order of workspaces does not count. */
export function sorted(value: unknown): unknown {
  return Array.isArray(value) ? (value as string[]).toSorted((a, b) => (a < b ? -1 : 1)) : value
}
