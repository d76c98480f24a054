import { systemClock } from '../../base/clock.ts'
import type { BrowserSessionStore } from '../../identity/browser-sessions.ts'
import type { SignIn } from './app-deps.ts'
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
