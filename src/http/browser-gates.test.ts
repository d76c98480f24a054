import { describe, expect, it } from 'vitest'
import type { AppError } from '../base/errors.ts'
import { type BrowserGateOptions, createBrowserGates } from './browser-gates.ts'

/** The code that a request is refused with; undefined when it is let through. */
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
    '%s is ours',
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
  ])('%s is not', (host) => {
    expect(outcome({ host, 'sec-fetch-site': 'same-origin', origin: `http://${host}` })).toBe(
      'misdirected_request',
    )
  })

  it('of PUBLIC_URL is ours, and no host is not', () => {
    const publicUrl = 'https://weir.example.com'
    expect(outcome({ host: 'weir.example.com', origin: publicUrl }, { publicUrl })).toBeUndefined()
    expect(outcome({ host: 'other.example.com' }, { publicUrl })).toBe('misdirected_request')
    expect(outcome({})).toBe('misdirected_request')
  })
})

describe('the origin', () => {
  const host = '127.0.0.1:1984'

  it('need not be told: clients that are no browsers do not', () => {
    expect(outcome({ host })).toBeUndefined()
    expect(outcome({ host, 'sec-fetch-mode': 'cors' })).toBeUndefined()
  })

  it.each(['http://127.0.0.1:1984', 'https://127.0.0.1:1984'])('%s is ours', (origin) => {
    expect(outcome({ host, origin, 'sec-fetch-site': 'same-origin' })).toBeUndefined()
  })

  it.each(['https://evil.example', 'http://localhost:1984', 'http://127.0.0.1:3000', 'null', ''])(
    '%s is not',
    (origin) => {
      expect(outcome({ host, origin })).toBe('foreign_origin')
    },
  )

  it('may be of a page that is let in by name', () => {
    const mayCall = (origin: string): boolean => origin === 'http://localhost:3000'
    const headers = { host, origin: 'http://localhost:3000', 'sec-fetch-site': 'cross-site' }
    expect(outcome(headers, { mayCall })).toBeUndefined()
    expect(outcome({ ...headers, origin: 'http://localhost:3001' }, { mayCall })).toBe('foreign_origin')
  })

  it.each(['cross-site', 'same-site', 'anything'])(
    'is foreign when the browser calls the request %s',
    (site) => {
      for (const method of ['GET', 'POST'])
        expect(outcome({ host, 'sec-fetch-site': site }, { method })).toBe('foreign_origin')
    },
  )

  it('is nobody for an address that was typed, which only reads', () => {
    const headers = { host, 'sec-fetch-site': 'none' }
    expect(outcome(headers, { method: 'GET' })).toBeUndefined()
    expect(outcome(headers, { method: 'POST' })).toBe('foreign_origin')
  })
})
