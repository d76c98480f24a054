import { AppError } from '../../../base/errors.ts'
import type { ManagedKind } from '../../../identity/managed-records.ts'
import type { Principal } from '../../../identity/principal.ts'
import { flagParameter } from '../../api/parameters.ts'
import type { AppDeps } from '../app-deps.ts'

/** Query of routes that change what a set-up file may manage. */
export const OVERRIDE_QUERY = {
  override: flagParameter('Change it although a set-up file manages it.', false),
}

/**
 * Refuses to change a record that a set-up file manages, unless the caller overrides it (TEAM-12).
 * @throws AppError managed_by_file
 */
export async function assertUnmanaged(
  { managed }: Pick<AppDeps, 'managed'>,
  { organization_id }: Pick<Principal, 'organization_id'>,
  { kind, id, override }: { kind: ManagedKind; id: string; override: boolean },
): Promise<void> {
  if (!override && (await managed.ids(organization_id, kind)).has(id)) throw new AppError('managed_by_file')
}
