import { describe, expect, it } from 'vitest'
import { newSecret } from '../../../identity/browser-sessions.ts'
import { noSessionCookie, sessionCookie, sessionSecretOf } from './session-cookie.ts'

const SECRET = newSecret()
const host = '127.0.0.1:1984'

describe('the session cookie', () => {
  it.each([
    [`weir_session_1984=${SECRET}`, SECRET],
    [`a=b; weir_session_1984=${SECRET};c`, SECRET],
    [`weir_session_1984=broken; weir_session_1984=${SECRET}`, SECRET],
    [`weir_session_1984=${SECRET}; weir_session_1984=${SECRET}`, SECRET],
    [`weir_session_1984=${newSecret()}; weir_session_1984=${SECRET}`, undefined],
    [`weir_session_1985=${SECRET}`, undefined],
    [`weir_session=${SECRET}`, undefined],
    [`xweir_session_1984=${SECRET}`, undefined],
    [`weir_session_1984=${SECRET}x`, undefined],
    ['weir_session_1984=', undefined],
    ['', undefined],
  ])('of %s', (cookie, secret) => {
    expect(sessionSecretOf({ host, cookie })).toBe(secret)
  })

  it('has no port in its name at an address without one', () => {
    expect(sessionSecretOf({ host: 'weir.example.com', cookie: `weir_session=${SECRET}` })).toBe(SECRET)
    expect(sessionSecretOf({ host: '[::1]', cookie: `weir_session=${SECRET}` })).toBe(SECRET)
    expect(sessionSecretOf({ host: '[::1]:80', cookie: `weir_session_80=${SECRET}` })).toBe(SECRET)
  })

  it('is hidden from scripts and other sites, and restricted to https only where it was set over https', () => {
    expect(sessionCookie({ host }, SECRET, { max_age_s: 60, isHttps: false })).toBe(
      `weir_session_1984=${SECRET}; Path=/; HttpOnly; SameSite=Strict; Max-Age=60`,
    )
    expect(sessionCookie({ host: 'a.b' }, SECRET, { max_age_s: 60, isHttps: true })).toMatch(
      /^weir_session=.*; Secure$/,
    )
    expect(noSessionCookie({ host })).toMatch(/^weir_session_1984=; .*Max-Age=0$/)
  })
})
