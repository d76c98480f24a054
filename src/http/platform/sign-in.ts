import type { BrowserSessionStore } from '../../identity/browser-sessions.ts'
import type { OauthStore } from '../../identity/oauth.ts'
import type { ProviderSignIn } from '../../identity/oidc/sign-in.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { SignIn } from './app-deps.ts'
import { createAttemptLimit } from './attempt-limit.ts'

/** Maximum number of failed sign-ins from one address in a minute, and of guesses of share tokens. */
export const FAILURES = { max: 10, window_ms: 60_000 }
/** Maximum number of sign-ins at a provider that one address begins in a minute; behind a proxy all people have one. */
const BEGINNINGS = { max: 300, window_ms: 60_000 }

/** The dependencies of the sign-in routes. */
export function createSignIn(
  sessions: BrowserSessionStore,
  deployment: string | undefined,
  {
    clock = systemClock,
    people,
    localSecret,
  }: { clock?: Clock; people?: ProviderSignIn | undefined; localSecret?: string | undefined } = {},
): SignIn {
  return {
    sessions,
    failures: createAttemptLimit({ ...FAILURES, clock }),
    beginnings: createAttemptLimit({ ...BEGINNINGS, clock }),
    deployment,
    people,
    localSecret,
  }
}

/** Maximum number of clients of OAuth that one address registers in an hour. */
const REGISTRATIONS = { max: 100, window_ms: 3_600_000 }

/** The dependencies of the routes of OAuth. */
export function createOauth(store: OauthStore, clock = systemClock) {
  return { store, registrations: createAttemptLimit({ ...REGISTRATIONS, clock }) }
}
