import { call, callRaw, type Reply } from './call.ts'
import { ApiError } from './problem.ts'

/** The caller and its permissions. */
export type Session = Reply<'GET /api/v1/auth/session'>

/** The session of this browser; null without one. @throws ApiError */
export async function readSession(signal?: AbortSignal): Promise<Session | null> {
  try {
    return await call('GET /api/v1/auth/session', signal === undefined ? {} : { signal })
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null
    throw error
  }
}

/** Signs in with a key or a ticket, which is sent and not stored. @throws ApiError */
export async function signIn(proof: { key: string } | { ticket: string }): Promise<Session> {
  return await call('POST /api/v1/auth/session', { body: proof })
}

/** Ends the session; returns the address at which the provider is signed out too, if there is one. @throws ApiError */
export async function signOut(): Promise<string | undefined> {
  const answer = await callRaw('DELETE /api/v1/auth/session')
  return answer.status === 200 ? ((await answer.json()) as { logout_url: string }).logout_url : undefined
}

/** Remembered in this tab after a sign-out, so that the sign-in page does not sign in again by itself. */
export const SIGNED_OUT = 'weir:signed-out'
