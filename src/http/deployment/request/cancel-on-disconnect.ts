import type { Principal } from '../../../identity/principal.ts'
import { AppError } from '../../../base/errors.ts'
import type { Parameter } from '../../api/parameters.ts'

/** Accepts every spelling that clients use; any other value means false. */
const CANCEL_ON_DISCONNECT: Parameter<boolean> = {
  description: 'true, 1, yes, on or cancel: the run is cancelled when this client leaves before its end.',
  required: false,
  schema: { type: 'string' },
  read: (values) => ['true', '1', 'yes', 'on', 'cancel'].includes(values.at(-1)?.toLowerCase() ?? ''),
}

export const JOIN_QUERY = { cancel_on_disconnect: CANCEL_ON_DISCONNECT }

/**
 * Whether a disconnect cancels the run. A caller that may only read must not cancel in this way. @throws AppError
 * permission_required
 */
export function cancelsOnDisconnect(
  { permissions }: Principal,
  { cancel_on_disconnect }: { cancel_on_disconnect: boolean },
): boolean {
  if (cancel_on_disconnect && !permissions.has('threads:update')) {
    throw new AppError('permission_required', {
      message: 'Forbidden: cancel_on_disconnect needs the permission threads:update.',
    })
  }
  return cancel_on_disconnect
}
