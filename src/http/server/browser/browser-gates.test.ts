import { describe, expect, it } from 'vitest'
import type { AppError } from '../../../base/errors.ts'
import { type BrowserGateOptions, createBrowserGates } from './browser-gates.ts'

/** The error code of a refused request; undefined for an accepted one. */
function outcome(
  headers: Record<string, string>,
  { method = 'POST', ...options }: Partial<BrowserGateOptions> & { method?: string } = {},
): string | undefined {
  try {
    createBrowserGates({ publicUrl: undefined, ...options }).assertOwn({ headers, method })
    return undefined
  } catch (error) {
    return (error as AppError).code
  }
}

describe('the host', () => {
  it.each(['127.0.0.1:1984', 'localhost:1984', 'LOCALHOST', '[::1]:80', 'weir.localhost:1'])(
    '%s is accepted',
    (host) => {
      expect(outcome({ host })).toBeUndefined()
    },
  )

  it.each([
    'evil.example',
    'evil.example:1984',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '10.0.0.1',
    '',
    'a b',
  ])('%s is not accepted', (host) => {
    expect(outcome({ host, 'sec-fetch-site': 'same-origin', origin: `http://${host}` })).toBe(
      'misdirected_request',
    )
  })

  it.each([
    ['192.168.1.5', '192.168.1.5:1984'],
    ['weir.lan', 'weir.lan:1984'],
    ['fd00::5', '[fd00::5]:1984'],
  ])('of HOST=%s is accepted', (listening, host) => {
    expect(outcome({ host }, { host: listening })).toBeUndefined()
    expect(outcome({ host: '192.168.1.6:1984' }, { host: listening })).toBe('misdirected_request')
  })

  it.each(['0.0.0.0', '::'])('of all interfaces (%s) is not accepted', (listening) => {
    expect(outcome({ host: '0.0.0.0:1984' }, { host: listening })).toBe('misdirected_request')
    expect(outcome({ host: '[::]:1984' }, { host: listening })).toBe('misdirected_request')
  })

  it('of PUBLIC_URL is accepted, a missing host is not', () => {
    const publicUrl = 'https://weir.example.com'
    expect(outcome({ host: 'weir.example.com', origin: publicUrl }, { publicUrl })).toBeUndefined()
    expect(outcome({ host: 'other.example.com' }, { publicUrl })).toBe('misdirected_request')
    expect(outcome({})).toBe('misdirected_request')
  })
})

describe('the origin', () => {
  const host = '127.0.0.1:1984'

  it('may be missing, as in requests of clients other than browsers', () => {
    expect(outcome({ host })).toBeUndefined()
    expect(outcome({ host, 'sec-fetch-mode': 'cors' })).toBeUndefined()
  })

  it.each(['http://127.0.0.1:1984', 'https://127.0.0.1:1984'])('%s is accepted', (origin) => {
    expect(outcome({ host, origin, 'sec-fetch-site': 'same-origin' })).toBeUndefined()
  })

  it.each(['https://evil.example', 'http://localhost:1984', 'http://127.0.0.1:3000', 'null', ''])(
    '%s is not accepted',
    (origin) => {
      expect(outcome({ host, origin })).toBe('foreign_origin')
    },
  )

  it('of this server is refused when Sec-Fetch-Site says that the page is of another', () => {
    const headers = { host, origin: 'http://127.0.0.1:1984' }
    for (const site of ['cross-site', 'same-site', 'none'])
      expect(outcome({ ...headers, 'sec-fetch-site': site })).toBe('foreign_origin')
  })

  it('of a page that mayCall allows is accepted', () => {
    const mayCall = (origin: string): boolean => origin === 'http://localhost:3000'
    const headers = { host, origin: 'http://localhost:3000', 'sec-fetch-site': 'cross-site' }
    expect(outcome(headers, { mayCall })).toBeUndefined()
    expect(outcome({ ...headers, origin: 'http://localhost:3001' }, { mayCall })).toBe('foreign_origin')
  })

  it.each(['cross-site', 'same-site', 'anything'])('is foreign when Sec-Fetch-Site is %s', (site) => {
    for (const method of ['GET', 'POST'])
      expect(outcome({ host, 'sec-fetch-site': site }, { method })).toBe('foreign_origin')
  })

  it('may be missing for a typed address, in GET and HEAD requests only', () => {
    const headers = { host, 'sec-fetch-site': 'none' }
    expect(outcome(headers, { method: 'GET' })).toBeUndefined()
    expect(outcome(headers, { method: 'POST' })).toBe('foreign_origin')
  })
})
