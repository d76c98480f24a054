import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { ERRORS } from '../../base/errors.ts'
import { documentedPath, openApiDocument } from './openapi.ts'
import { platformRoutes } from '../platform/routes.ts'

const routes = platformRoutes()
const document = openApiDocument(routes, '1.2.3')

interface Operation {
  operationId: string
  parameters: { name: string; in: string }[]
  responses: Record<string, { content?: Record<string, unknown> }>
  security?: unknown[]
  'x-permission'?: string
}

function operations(): [string, string, Operation][] {
  const paths = document['paths'] as Record<string, Record<string, Operation>>
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, string, Operation] => [
      path,
      method,
      operation,
    ]),
  )
}

function references(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, value]) =>
    key === '$ref' && typeof value === 'string' ? [value] : references(value),
  )
}

function at(pointer: string): unknown {
  let node: unknown = document
  for (const key of pointer.split('/').slice(1)) node = (node as Record<string, unknown>)[key]
  return node
}

describe('openApiDocument', () => {
  it('describes every route, each under a name of its own', () => {
    expect(operations().length).toBe(routes.length)
    const names = operations().map(([, , { operationId }]) => operationId)
    expect(new Set(names).size).toBe(names.length)
    for (const { method, path } of routes)
      expect(at(`/paths`)).toHaveProperty([documentedPath(path), method.toLowerCase()])
    const shown = operations().map(([path]) => path)
    expect(shown).toEqual(expect.arrayContaining(['/', '/v1/traces', '/otel/v1/logs', '/api/v1/runs/{id}']))
    expect(shown.filter((path) => path.includes('v1/v1') || path === '/api/v1/')).toEqual([])
  })

  it('declares every path parameter and no others', () => {
    for (const [path, , { parameters }] of operations()) {
      const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
      expect(inPath).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
    }
  })

  it('resolves every reference', () => {
    const found = references(document)
    expect(found.length).toBeGreaterThan(20)
    for (const reference of found)
      expect([reference, at(reference.slice(1))]).toEqual([reference, expect.any(Object)])
  })

  it('gives keyed routes and the sign-in a 401, other open ones none, and errors only with known codes', () => {
    const statuses = new Set(Object.values(ERRORS).map(({ status }) => String(status)))
    for (const [path, method, { responses, security }] of operations()) {
      const signsIn = method === 'post' && /^\/api\/v1\/auth\/(?:session|invites|invites\/accept)$/.test(path)
      // SCIM has tokens of its own.
      const needsToken = security === undefined || path.startsWith('/api/v1/scim/')
      expect([method, path, '401' in responses]).toEqual([method, path, needsToken || signsIn])
      for (const status of Object.keys(responses))
        expect(/^[23]/.test(status) || statuses.has(status)).toBe(true)
    }
  })

  it('S-33: names server-sent events as an answer of each query of API v2', () => {
    const queries = operations().filter(([path]) => /^\/api\/v2\/\w+\/query$/.test(path))
    expect(queries.map(([, , { responses }]) => Object.keys(responses['200']?.content ?? {}))).toEqual(
      queries.map(() => ['application/json', 'text/event-stream']),
    )
    expect(queries).toHaveLength(3)
  })

  it('is valid JSON Schema 2020-12 in all its schemas', () => {
    const ajv = new Ajv2020({ strict: false, logger: false })
    for (const schema of Object.values(at('/components/schemas') as object)) {
      expect(ajv.validateSchema(schema as object)).toBe(true)
    }
  })
})

describe('permissions', () => {
  it('are documented for every operation that needs a key, with the 403', () => {
    const told = operations().map(([path, method, operation]) => [
      `${method} ${path}`,
      operation['x-permission'],
      '403' in operation.responses,
    ])
    const expected = routes.map(({ method, path, needs }) => [
      `${method.toLowerCase()} ${documentedPath(path)}`,
      needs === 'open' ? undefined : needs,
      // A route without a key answers 403 in two cases: a page of another site signs in or out, or accepts an
      // invitation, and the token of an upload is wrong or expired.
      needs !== 'open' ||
        /^\/auth\/(?:session|invites|invites\/accept)$/.test(path) ||
        path === '/v2/uploads/{token}',
    ])
    expect(new Set(told.map(String))).toEqual(new Set(expected.map(String)))
  })
})
