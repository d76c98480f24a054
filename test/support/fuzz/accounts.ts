import type { KnownRecords } from '../servers/known-records.ts'
import { jsonBody, KEY, type WeirProcess } from '../servers/weir-process.ts'

const MEMBERS = 20
const SESSIONS = 20
const ROLES = ['admin', 'operator', 'user', 'viewer']
const SIGN_IN = '/api/v1/auth/session'

/** Adds members that the campaign may change and remove, and knows how to add further ones and to sign in. */
export async function addMembers(weir: Pick<WeirProcess, 'json'>, records: KnownRecords): Promise<void> {
  const path = '/api/v1/orgs/current/members'
  for (let n = 0; n < MEMBERS; n++) {
    const member = { email: `fuzzed${n}@example.com`, role: ROLES[n % ROLES.length] }
    records.learn(path, await weir.json(path, jsonBody('POST', member)))
    records.add(path, { email: `later${n}@example.com` })
  }
  records.add(SIGN_IN, { key: KEY })
}

/** Cookies of sessions of the campaign's key. */
export async function startSessions(weir: Pick<WeirProcess, 'fetch'>): Promise<string[]> {
  const cookies: string[] = []
  for (let n = 0; n < SESSIONS; n++) {
    const answer = await weir.fetch(SIGN_IN, jsonBody('POST', { key: KEY }))
    const [cookie = ''] = answer.headers.getSetCookie()
    cookies.push(cookie.split(';')[0] ?? '')
  }
  return cookies
}

/** A token of SCIM and its id. */
export function startScim(weir: Pick<WeirProcess, 'json'>): Promise<{ token: string; id: string }> {
  return weir.json('/api/v1/orgs/current/scim-tokens', jsonBody('POST', {}))
}
