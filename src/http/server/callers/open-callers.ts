import { chunksOf } from '../../../base/chunks.ts'
import { type AppError, toAppError } from '../../../base/errors.ts'
import type { Authenticator } from '../../../identity/authenticator.ts'
import type { ActsIn } from '../../../identity/authenticator.ts'
import { assertAllowed, type RouteAccess } from '../../api/access.ts'
import { type CallerDeps, callerOf, type OpenCallers } from '../credentials.ts'
import type { Exchange } from '../exchange.ts'

/** Half of the time within which a change on another server has its effect here. */
const EVERY_MS = 5_000
/** Number of callers that are checked at the same time. */
const AT_ONCE = 64

interface OpenCaller {
  check(): Promise<unknown>
  end(refusal: AppError): void
}

/** `everyMs` is the time between two checks of a caller. */
export function createOpenCallers(
  { onChange }: Pick<Authenticator, 'onChange'>,
  everyMs = EVERY_MS,
): OpenCallers {
  const open = new Set<OpenCaller>()
  let isChecking = false
  let again = false

  const checkOne = async (caller: OpenCaller): Promise<void> => {
    try {
      await caller.check()
    } catch (error) {
      const refusal = toAppError(error)
      // A store that does not answer refuses nobody.
      if (refusal.status >= 500 || !open.delete(caller)) return
      caller.end(refusal)
    }
  }
  const checkAll = async (): Promise<void> => {
    if (isChecking) return
    isChecking = true
    while (again) {
      again = false
      for (const callers of chunksOf([...open], AT_ONCE)) await Promise.all(callers.map(checkOne))
    }
    isChecking = false
  }
  const ask = (): void => {
    again = true
    void checkAll()
  }

  onChange(ask)
  const timer = setInterval(ask, everyMs)
  timer.unref()
  return {
    add(check, end) {
      const caller = { check, end }
      open.add(caller)
      return () => void open.delete(caller)
    },
    close: () => clearInterval(timer),
  }
}

/**
 * Watches the caller of a stream or socket, if a key or a session of Weir has identified it; `end` is called when the
 * caller may no longer read it. The returned function ends the watch.
 */
export function watchCaller(
  exchange: Exchange,
  deps: CallerDeps,
  access: RouteAccess & { acts_in?: ActsIn },
  end: (refusal: AppError) => void,
): () => void {
  const { openCallers } = deps
  if (openCallers === undefined || !exchange.hasKey) return () => undefined
  const check = async (): Promise<void> => {
    const caller = await callerOf(exchange, deps, { acts_in: access.acts_in, fresh: true })
    // A user of Studio has other permissions than the key.
    if (exchange.principal?.api_key_id === caller.api_key_id) assertAllowed(caller, access)
  }
  return openCallers.add(check, end)
}
