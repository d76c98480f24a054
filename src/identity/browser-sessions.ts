import { hash, randomBytes } from 'node:crypto'
import type { Actor } from './identity-store.ts'
import type { KeyGrant } from './principal.ts'

const DAY_MS = 24 * 60 * 60_000
/** Time without use after which a session ends. */
export const SESSION_IDLE_MS = 7 * DAY_MS
/** Maximum age of a session, even in constant use. */
export const SESSION_MAX_MS = 30 * DAY_MS
/** Lifetime of a ticket, which can be used once. */
export const TICKET_MS = 15 * 60_000
/** Maximum number of sessions, and of tickets, of one key; the oldest are removed. */
export const MAX_OF_KEY = 100

const SECRET = /^[\w-]{43}$/

/** The secret of a new session or ticket: 256 random bits. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Whether the text may be the secret of a session or a ticket. */
export function isSecret(text: string): boolean {
  return SECRET.test(text)
}

/** SHA-256 of a secret in hex; only this is stored. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

/** A browser's sign-in with one API key. Times are epoch milliseconds. */
export interface BrowserSession {
  id: string
  /** For a session of a member, who signed in without a key, the id of the member. */
  api_key_id: string
  created_at: number
  /** Exact to a minute. */
  last_used_at: number
  /** Time at which the session ends even if it is used. */
  expires_at: number
}

/** Time at which the session ends if it is not used again; never after the expiry of its key. */
export function sessionEnd(
  { last_used_at, expires_at }: Pick<BrowserSession, 'last_used_at' | 'expires_at'>,
  key_expires_at: number | null,
): number {
  return Math.min(last_used_at + SESSION_IDLE_MS, expires_at, key_expires_at ?? Infinity)
}

/** A session in a list: of a key, or of a member who signed in at a provider. */
export interface ListedSession
  extends Pick<BrowserSession, 'id' | 'created_at' | 'last_used_at' | 'expires_at'> {
  /** The member who is signed in; null for a service key. */
  user_id: string | null
  /** Null without a key. */
  api_key_id: string | null
  short_key: string | null
  /** Null with a key. */
  provider: string | null
}

/** Browser sessions and tickets. Sessions and tickets of a revoked or expired key are not found. */
export interface BrowserSessionStore {
  /** Stores a ticket for the key, with an audit entry; returns false if there is no such key. */
  addTicket(secret_hash: string, api_key_id: string, now: number): Promise<boolean>
  /**
   * Removes a ticket and returns its key; undefined for an unknown, used or expired ticket. Only one caller gets the
   * key.
   */
  takeTicket(secret_hash: string, now: number): Promise<string | undefined>
  /** Starts a session of the key, with an audit entry; undefined when there is no such key or it has expired. */
  start(
    session: { id: string; secret_hash: string; api_key_id: string },
    now: number,
  ): Promise<BrowserSession | undefined>
  /** The session with this secret and the grant of its key; undefined once it has ended. */
  find(secret_hash: string, now: number): Promise<{ session: BrowserSession; grant: KeyGrant } | undefined>
  /** Records the last use, to the minute. */
  touch(id: string, now: number): Promise<void>
  /** Ends the session, with an audit entry; returns its id, or undefined if there is none. */
  end(secret_hash: string, now: number): Promise<string | undefined>
  /** All sessions of the organization, also of members without a key; the last used first. */
  list(organization_id: string, now: number): Promise<ListedSession[]>
  /** Ends a session of the list, with an audit entry; returns false if there is none with that id. */
  endListed(organization_id: string, id: string, actor: Actor): Promise<boolean>
}

type Sessions = Pick<BrowserSessionStore, 'find' | 'touch'>

/** The sessions of both: those of `first` are looked up first. */
export function eitherSessions(first: Sessions, second: Sessions): Sessions {
  return {
    find: async (secret_hash, now) =>
      (await first.find(secret_hash, now)) ?? (await second.find(secret_hash, now)),
    touch: async (id, now) => void (await Promise.all([first.touch(id, now), second.touch(id, now)])),
  }
}
