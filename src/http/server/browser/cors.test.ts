import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../schema/json.ts'
import { createExchange } from '../exchange.ts'
import {
  allowOrigin,
  isNamedOrigin,
  preflightHeaders,
  readCorsRules,
  withoutPages,
  withoutWildcard,
} from './cors.ts'

const MINE = 'https://app.example.com'

function exchangeFrom(origin: string | undefined, asked?: string) {
  const req = new IncomingMessage(new Socket())
  if (origin !== undefined) req.headers.origin = origin
  if (asked !== undefined) req.headers['access-control-request-headers'] = asked
  return createExchange(req, new ServerResponse(req))
}

/** The headers of a response that a page of `origin` may read. */
function allowed(cors: JsonObject | undefined, origin: string | undefined = MINE): unknown {
  const exchange = exchangeFrom(origin)
  allowOrigin(exchange, readCorsRules(cors === undefined ? {} : { cors }))
  const header = (name: string): unknown => exchange.res.getHeader(name)
  return [header('access-control-allow-origin'), header('access-control-allow-credentials'), header('vary')]
}

describe('http.cors of langgraph.json', () => {
  it('allows all pages when it has no rules', () => {
    expect(allowed(undefined)).toEqual(['*', undefined, undefined])
    const plain = exchangeFrom(undefined)
    allowOrigin(plain, readCorsRules({}))
    expect(plain.res.getHeaderNames()).toEqual([])
  })

  it('MCP-9: lets clients of MCP in browsers read where they get a token', () => {
    const exchange = exchangeFrom(MINE)
    allowOrigin(exchange, readCorsRules({}))
    expect(exchange.res.getHeader('access-control-expose-headers')).toContain('www-authenticate')
  })

  it('allows only pages that it names or describes', () => {
    expect(allowed({ allow_origins: [MINE] })).toEqual([MINE, undefined, 'origin'])
    expect(allowed({ allow_origins: ['https://other.example.com'] })).toEqual([
      undefined,
      undefined,
      'origin',
    ])
    const described = { allow_origin_regex: 'https://[a-z]+\\.example\\.com' }
    expect(allowed(described)).toEqual([MINE, undefined, 'origin'])
    expect(allowed(described, `${MINE}.evil.test`)).toEqual([undefined, undefined, 'origin'])
  })

  it('never allows all pages to use credentials without naming the page', () => {
    expect(allowed({ allow_credentials: true })).toEqual([MINE, 'true', 'origin'])
  })

  it('answers a preflight request with the allowed methods and headers', () => {
    const asked = exchangeFrom(MINE, 'x-api-key')
    expect(preflightHeaders(asked, readCorsRules({}), 'GET, OPTIONS')).toEqual({
      allow: 'GET, OPTIONS',
      'access-control-allow-methods': 'GET, OPTIONS',
      'access-control-allow-headers': 'x-api-key',
      'access-control-max-age': 600,
    })
    const rules = readCorsRules({
      cors: { allow_methods: ['GET'], allow_headers: ['x-a', 'x-b'], max_age: 1 },
    })
    expect(preflightHeaders(asked, rules, 'GET, OPTIONS')).toMatchObject({
      'access-control-allow-methods': 'GET',
      'access-control-allow-headers': 'x-a, x-b',
      'access-control-max-age': 1,
    })
  })

  it('a wildcard for methods and headers allows those of the route and of the request', () => {
    const asked = exchangeFrom(MINE, 'authorization, x-api-key')
    const all = { allow_origins: ['*'], allow_methods: ['*'], allow_headers: ['*'] }
    for (const cors of [all, { ...all, allow_credentials: true }])
      expect(preflightHeaders(asked, readCorsRules({ cors }), 'GET, OPTIONS')).toMatchObject({
        'access-control-allow-methods': 'GET, OPTIONS',
        'access-control-allow-headers': 'authorization, x-api-key',
      })
  })

  it.each(['allow_methods', 'allow_headers', 'expose_headers'])(
    'D-64: %s that no header may have are refused before the first request',
    (name) => {
      for (const wrong of ['x-a\r\nx-b: c', 'x\n', 'ü', '', 'x y']) {
        const error = { code: 'config_invalid', message: expect.stringContaining(`http.cors.${name}`) }
        expect(() => readCorsRules({ cors: { [name]: ['x-good', wrong] } })).toThrow(
          expect.objectContaining(error),
        )
      }
      expect(() => readCorsRules({ cors: { [name]: ['x-good', '*'] } })).not.toThrow()
    },
  )

  it('names a pattern that is no regular expression', () => {
    const cors = { allow_origin_regex: '(https://x' }
    const error = { code: 'config_invalid', message: expect.stringContaining('allow_origin_regex') }
    expect(() => readCorsRules({ cors })).toThrow(expect.objectContaining(error))
  })

  it.each([
    ['(?i)https://APP\\.example\\.com', true, true],
    ['https://.*?\\.example\\.com', true, true],
    ['^https:\\/\\/[\\w-]+\\.example\\.(com|org)(:\\d{1,5})?$', true, true],
    ['https://(?!evil).*', true, false],
    ['https://example\\.com|.*app', false, true],
  ])('D-64: knows whether comparing with %s takes bounded time', (pattern, matches, isBounded) => {
    const rules = readCorsRules({ cors: { allow_origin_regex: pattern } }).allow_origin_regex
    expect(rules?.test(MINE)).toBe(matches)
    expect(rules?.isBounded).toBe(isBounded)
  })

  it('D-64: a pattern with nested repetitions does not hold up the server, and long origins match none', () => {
    const rules = readCorsRules({ cors: { allow_origin_regex: '(a+)+b|https://.*' } }).allow_origin_regex
    expect(rules?.test('a'.repeat(200))).toBe(false)
    expect(rules?.test(`https://${'a'.repeat(300)}`)).toBe(false)
  })

  it('lets pages of the internet call a server in a private network, if they are allowed', () => {
    const asked = exchangeFrom(MINE)
    const answered = (cors: JsonObject): unknown =>
      preflightHeaders(asked, readCorsRules({ cors }), 'GET')['access-control-allow-private-network']
    expect(answered({})).toBeUndefined()
    asked.req.headers['access-control-request-private-network'] = 'true'
    expect(answered({})).toBe('true')
    expect(answered({ allow_origins: [MINE] })).toBe('true')
    expect(answered({ allow_origins: ['https://other.example.com'] })).toBeUndefined()
  })
})

describe('without keys', () => {
  const here = 'http://localhost:3000'

  it('a wildcard allows the pages of this machine, and named pages stay allowed', () => {
    for (const cors of [{}, { cors: { allow_origins: ['*'] } }]) {
      const rules = withoutWildcard(readCorsRules(cors))
      expect([here, MINE, 'null', ''].map((origin) => isNamedOrigin(origin, rules))).toEqual([
        true,
        false,
        false,
        false,
      ])
    }
    const named = withoutWildcard(readCorsRules({ cors: { allow_origins: [MINE] } }))
    expect([here, MINE].map((origin) => isNamedOrigin(origin, named))).toEqual([false, true])
    const both = withoutWildcard(readCorsRules({ cors: { allow_origins: ['*', MINE] } }))
    expect([here, MINE].map((origin) => isNamedOrigin(origin, both))).toEqual([true, true])
  })

  it('a page gets its own origin in the header, never *, and none under the platform API', () => {
    const exchange = exchangeFrom(here)
    allowOrigin(exchange, withoutWildcard(readCorsRules({})))
    expect(exchange.res.getHeader('access-control-allow-origin')).toBe(here)
    const mounted = exchangeFrom(here)
    allowOrigin(mounted, withoutPages(readCorsRules({})))
    expect(mounted.res.getHeader('access-control-allow-origin')).toBeUndefined()
  })
})
