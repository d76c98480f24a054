import type { ScimStore } from '../../../../identity/scim/scim.ts'
import type { Database } from '../../driver/database.ts'
import { groupStore } from './group-store.ts'
import { userStore } from './user-store.ts'

/** Users and groups of SCIM in a SQL database that has been migrated. */
export function createScimStore(database: Database): ScimStore {
  return { ...userStore(database), ...groupStore(database) }
}
