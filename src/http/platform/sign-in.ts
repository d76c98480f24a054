import { systemClock } from '../../base/clock.ts'
import type { BrowserSessionStore } from '../../identity/browser-sessions.ts'
import type { OauthStore } from '../../identity/oauth.ts'
import type { Oauth, SignIn } from './app-deps.ts'
import { createRateLimit } from './rate-limit.ts'

/** Maximum number of failed sign-ins from one address in a minute, and of guesses of share tokens. */
export const FAILURES = { max: 10, window_ms: 60_000 }

/** The dependencies of the sign-in routes. */
export function createSignIn(
  sessions: BrowserSessionStore,
  deployment: string | undefined,
  clock = systemClock,
): SignIn {
  return { sessions, failures: createRateLimit({ ...FAILURES, clock }), deployment }
}

/** Maximum number of clients of OAuth that one address registers in an hour. */
const REGISTRATIONS = { max: 100, window_ms: 3_600_000 }

/** The dependencies of the routes of OAuth. */
export function createOauth(store: OauthStore, clock = systemClock): Oauth {
  return { store, registrations: createRateLimit({ ...REGISTRATIONS, clock }) }
}
