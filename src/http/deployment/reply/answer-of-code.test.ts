import { describe, expect, it } from 'vitest'
import { answerOfCode } from './answer-of-code.ts'

const MOUNT = { prefix: '/deployments/bot', sandboxed: true, hasSession: false }
const OWN = { prefix: '', sandboxed: false, hasSession: false }

/** The cookies that clients get. */
function cookiesOf(cookie: string, place = MOUNT): string[] {
  const headers = answerOfCode(['Set-Cookie', cookie], place)
  return headers.filter((_text, at) => headers[at - 1] === 'Set-Cookie')
}

describe('D-64: cookies of deployed code', () => {
  it.each([
    'weir_session_1984=x',
    'WEIR_SESSION=x; Path=/app',
    '\tweir_session_1984 =x',
    '\u00a0weir_session_1984=x',
    '__Secure-weir_session=x',
    '__host-weir_session=x',
    '=weir_session_1984=x',
    ' = weir_session_1984=x',
    'weir_session_1984',
    '',
    ';weir_session_1984=x',
  ])('%j is never set', (cookie) => {
    expect(cookiesOf(cookie)).toEqual([])
    expect(cookiesOf(cookie, OWN)).toEqual([])
  })

  it.each([
    ['a=1', 'a=1; Path=/deployments/bot', 'a=1'],
    ['a=1; Path=/', 'a=1; Path=/deployments/bot/', 'a=1; Path=/'],
    [
      'a=1; Path=/x; path=/api/v1;Secure',
      'a=1; Secure; Path=/deployments/bot/api/v1',
      'a=1; Secure; Path=/api/v1',
    ],
    ['a=1; Path=/deployments/bot/x', 'a=1; Path=/deployments/bot/x', 'a=1; Path=/deployments/bot/x'],
    [
      'a=1; Path=/deployments/bottom',
      'a=1; Path=/deployments/bot/deployments/bottom',
      'a=1; Path=/deployments/bottom',
    ],
    ['a=1; Path=x', 'a=1; Path=/deployments/bot', 'a=1; Path=/'],
    ['a=1; DOMAIN=.example.com; domain', 'a=1; Path=/deployments/bot', 'a=1'],
  ])('%j is set below the deployment as %j, at an address of its own as %j', (cookie, below, own) => {
    expect(cookiesOf(cookie)).toEqual([below])
    expect(cookiesOf(cookie, OWN)).toEqual([own])
  })
})

describe('D-64: other headers of deployed code', () => {
  const passed = (name: string, value: string, place = OWN): string[] =>
    answerOfCode([name, value], place).slice(0, 2)

  it('that browsers or proxies apply beyond the answer are removed', () => {
    const names = [
      'Service-Worker-Allowed',
      'CLEAR-SITE-DATA',
      'Secure-Session-Registration',
      'Use-As-Dictionary',
    ]
    for (const name of [...names, 'X-Accel-Redirect', 'X-Sendfile', 'Sec-Anything', 'Proxy-Authenticate'])
      expect([name, passed(name, '/')]).toEqual([name, []])
  })

  it('keep their order, number and values', () => {
    const sent = ['Link', '</a>', 'x-a', '1', 'Link', '</b>', 'location', 'https://example.com/']
    expect(answerOfCode(sent, OWN)).toEqual(sent)
  })

  it('ask for no password in the name of the interface', () => {
    expect(passed('WWW-Authenticate', 'Basic realm="Weir"', MOUNT)).not.toContain('Basic realm="Weir"')
    expect(passed('WWW-Authenticate', 'Bearer', MOUNT)).toEqual(['WWW-Authenticate', 'Bearer'])
    expect(passed('WWW-Authenticate', 'Basic', OWN)).toEqual(['WWW-Authenticate', 'Basic'])
  })

  it('announce no parts with headers of their own', () => {
    expect(passed('Content-Type', 'Multipart/X-Mixed-Replace; boundary=a')).toEqual([
      'Content-Type',
      'application/octet-stream',
    ])
  })
})
