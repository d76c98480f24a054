import type { BrowserSession } from '../browser-sessions.ts'
import type { Workspace } from '../identity-store.ts'
import type { KeyGrant } from '../principal.ts'
import type { Admission, Known, SignInRefusal } from './admission.ts'
import type { Person } from './person.ts'
import type { AttemptChecks } from './provider.ts'

/** Lifetime of an attempt to sign in, which can be used once. */
export const ATTEMPT_MS = 10 * 60_000
/** Maximum number of attempts that wait; the oldest are removed. */
export const MAX_ATTEMPTS = 10_000

/** A sign-in that waits for the response of the provider. */
export interface Attempt extends AttemptChecks {
  provider: string
  /** The page that is opened afterwards. */
  return_to: string
}

/** A browser session of a member, who signed in at a provider. */
export interface MemberSession extends BrowserSession {
  organization_id: string
  user_id: string
  provider: string
  /** The provider's tokens, encrypted; null if there are none. */
  tokens: string | null
  /** When the provider was last asked about the person, epoch milliseconds. */
  checked_at: number
}

/** A person who has come from a provider. */
export interface Arrival {
  person: Person
  /** The address that may link the person to a member; undefined without a verified one. */
  verified_email: string | undefined
  provider: string
}

/** The new session of a person who enters; `address` is that of the browser, for the audit. */
export interface NewSession {
  id: string
  secret_hash: string
  /** Encrypted. */
  tokens: string
  expires_at: number
  address: string
}

export type Entered =
  | { refused: SignInRefusal; user_id: string | undefined }
  | {
      user_id: string
      /** Whether rights of the member changed. */
      changed: boolean
      /** Whether the member keeps its rights only because it is the last admin of all workspaces. */
      kept_last_admin: boolean
    }

/** Sign-ins of people: attempts, who they are, and their sessions. */
export interface SignInStore {
  addAttempt(secret_hash: string, attempt: Attempt, now: number): Promise<void>
  /** Removes an attempt and returns it; undefined for an unknown, used or expired one. Only one caller gets it. */
  takeAttempt(secret_hash: string, now: number): Promise<Attempt | undefined>
  /**
   * Finds the member that the person is, or makes one, as `decide` says, and starts the session if there is one; all in
   * one transaction, with audit entries. A member that loses its rights by its groups is suspended.
   */
  enter(
    arrival: Arrival,
    decide: (known: Known, workspaces: readonly Workspace[]) => Admission,
    at: { organization_id: string; now: number; session?: NewSession },
  ): Promise<Entered>
  /** The session with this secret, and the member's rights; undefined once it has ended. */
  findSession(
    secret_hash: string,
    now: number,
  ): Promise<{ session: MemberSession; grant: KeyGrant } | undefined>
  /** Takes the turn to ask the provider; false if another server has taken it since `session` was read. */
  takeTurn(session: Pick<MemberSession, 'id' | 'checked_at'>, now: number): Promise<boolean>
  keepTokens(session_id: string, tokens: string): Promise<void>
  /** Records the last use, to the minute. */
  touchSession(session_id: string, now: number): Promise<void>
  /** Ends the session, with an audit entry that has the reason. */
  endSession(session: MemberSession, reason: string, now: number): Promise<void>
  /** Records a sign-in that failed before the person was known. */
  recordRefusal(
    details: { reason: SignInRefusal; provider: string; address: string },
    at: { organization_id: string; now: number },
  ): Promise<void>
}
