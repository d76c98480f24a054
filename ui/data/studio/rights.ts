import { missingPermission } from '../settings/missing-permission.ts'

/** For each action of Studio, the message that names the missing permission; undefined for an allowed action. */
export interface StudioRights {
  /** Starting a run, going on with one, or answering its questions. */
  run: string | undefined
  edit: string | undefined
  cancel: string | undefined
  copy: string | undefined
}

/** The facts about the user and the thread that decide which actions are allowed. */
export interface StudioCaller {
  permissions: readonly string[]
  /**
   * True when a user's token is set. The auth file authorizes such requests; permissions of the session do not limit
   * them.
   */
  hasToken: boolean
  /** False before the first run, which creates the thread. */
  hasThread: boolean
}

/** The actions that the permissions of the caller allow, by the rules of the deployment API (D-40). */
export function rightsOf({ permissions, hasToken, hasThread }: StudioCaller): StudioRights {
  const missing = (...needed: string[]): string | undefined =>
    hasToken ? undefined : missingPermission(permissions, needed)
  const update = missing('threads:update')
  return {
    run: hasThread ? update : missing('threads:create', 'threads:update'),
    edit: update,
    cancel: update,
    copy: missing('threads:create'),
  }
}
