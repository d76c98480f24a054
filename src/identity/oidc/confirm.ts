import { within } from '../../base/background/within.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { Sealer } from '../../base/node/sealer.ts'
import { reasonOf } from './discovery.ts'
import type { Described, KeptTokens, SignInProvider } from './provider.ts'
import type { Entered, MemberSession, NewSession, SignInStore } from './sign-in-store.ts'

/** Time between two questions to the provider about a person who is signed in. */
const ASK_EVERY_MS = 30_000
/** Time for which a request waits for the provider. */
const ASK_WAIT_MS = 3_000

/** The name of a session's tokens for the sealer. */
export function tokensPlace(session_id: string): string {
  return `member-session/${session_id}`
}

/** Lets a person in, and starts the session if there is one. */
export type Enter = (
  described: Pick<Described, 'person'>,
  from: SignInProvider,
  session?: NewSession,
) => Promise<Entered>

/**
 * Asks the provider, if it is time, whether the rights of a session still hold; then they are up to date in the store,
 * and the session is ended if the person may not enter any more. Returns whether the provider was asked.
 */
export function createConfirm(
  {
    store,
    sealer,
    clock,
    logger,
  }: { store: SignInStore; sealer(): Promise<Sealer>; clock: Clock; logger: Logger },
  {
    provider,
    enter,
  }: {
    provider(id: string): SignInProvider | undefined
    enter: Enter
  },
): (session: MemberSession) => Promise<boolean> {
  const ask = async (session: MemberSession): Promise<void> => {
    const from = provider(session.provider)
    if (from === undefined) return await store.endSession(session, 'provider_removed', clock.now())
    if (session.tokens === null) return
    const secrets = await sealer()
    const tokens = JSON.parse(secrets.open(tokensPlace(session.id), session.tokens)) as KeptTokens
    const asked = await from.ask(tokens)
    if (asked === undefined) return
    if (asked === 'ended') return await store.endSession(session, 'provider_ended', clock.now())
    await store.keepTokens(session.id, secrets.seal(tokensPlace(session.id), JSON.stringify(asked.tokens)))
    if (asked.person === undefined) return
    const entered = await enter({ person: asked.person }, from)
    if ('refused' in entered) await store.endSession(session, entered.refused, clock.now())
  }
  return async (session) => {
    const now = clock.now()
    if (Math.abs(now - session.checked_at) < ASK_EVERY_MS || !(await store.takeTurn(session, now)))
      return false
    const asking = ask(session).catch((error: unknown) => {
      // A provider that does not answer signs nobody out.
      logger.warn(
        { provider: session.provider, reason: reasonOf(error) },
        'the sign-in provider was not asked',
      )
    })
    await within(asking, ASK_WAIT_MS, () => undefined)
    return true
  }
}
