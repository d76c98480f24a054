import { describe, expect, it } from 'vitest'
import { createAppMatch } from './app-routes.ts'

const CASES: [pattern: string, path: string, takes: boolean][] = [
  ['/hello', '/hello', true],
  ['/hello', '/hello/', true],
  ['/hello', '/hello/you', false],
  ['/a.b', '/axb', false],
  ['/users/:id', '/users/7', true],
  ['/users/:id', '/users', false],
  ['/users/:id?', '/users', true],
  ['/users/:id?', '/users/7/posts', false],
  ['/files/:path{.+}', '/files/a/b/c', true],
  ['/files/:path{.+}', '/other', false],
  ['/files/:id{[0-9]+}?', '/files', true],
  ['/api/*', '/api', true],
  ['/api/*', '/api/a/b', true],
  ['/api/*', '/apix', false],
  ['/a/*/c', '/a/b/c', true],
  ['/*', '/threads/search', true],
  ['*', '/threads/search', true],
]

describe('routes of a Hono app', () => {
  it.each(CASES)('%s and %s: %s', (path, asked, takes) => {
    expect(createAppMatch([{ method: 'GET', path }])('GET', asked)).toBe(takes)
  })

  it('match one method, or all', () => {
    const takes = createAppMatch([
      { method: 'POST', path: '/in' },
      { method: 'ALL', path: '/all/*' },
    ])
    expect([takes('GET', '/in'), takes('POST', '/in')]).toEqual([false, true])
    expect([takes('PATCH', '/all/x'), takes('HEAD', '/all')]).toEqual([true, true])
    expect(createAppMatch([{ method: 'GET', path: '/g' }])('HEAD', '/g')).toBe(true)
  })
})

it('D-64: no pattern of deployed code holds up the server', () => {
  const start = performance.now()
  for (const pattern of ['/*'.repeat(30) + '/end', '/:a?'.repeat(40) + '/end'])
    expect(createAppMatch([{ method: 'ALL', path: pattern }])('GET', '/a'.repeat(3_000))).toBe(false)
  expect(performance.now() - start).toBeLessThan(2_000)
})
