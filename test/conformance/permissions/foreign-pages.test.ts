import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deploymentRoutes } from '../../../src/http/deployment/routes.ts'
import { platformRoutes } from '../../../src/http/platform/routes.ts'
import { firstInShort } from '../../support/length.ts'
import { borrowWeir, type UsedWeir } from '../../support/servers/use-weir.ts'
import { DEPLOYMENT_NAME } from '../../support/servers/weir-pool.ts'

const ID = 'a5a5a5a5-0000-4000-8000-000000000000'
const JSON_TYPE = { 'content-type': 'application/json' }
let weir: UsedWeir
let cookie: string

/** Requests of pages that are not of the interface, as browsers mark them. */
const PAGES: readonly Record<string, string>[] = [
  { origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' },
  { origin: 'http://127.0.0.1:9', 'sec-fetch-site': 'same-site' },
  { origin: 'null', 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
]

/** Routes of OTLP, whose errors are a google.rpc.Status. */
const OTLP = /\/v1\/(?:traces|logs|metrics)$/
/** PERMISSION_DENIED of google.rpc.Code. */
const OTLP_DENIED = 7

/** The code of an error; undefined if the text is no JSON. */
function codeIn(text: string): unknown {
  try {
    return (JSON.parse(text) as { code?: unknown }).code
  } catch {
    return undefined
  }
}

beforeAll(async () => {
  weir = await borrowWeir('/weir/deployment')
  const body = JSON.stringify({ key: weir.key })
  const signedIn = await fetch(`${weir.url}/auth/session`, { method: 'POST', headers: JSON_TYPE, body })
  cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
})
afterAll(async () => expect(await weir.stop()).toBe(0))

describe('IDENTITY-18: a page of another site cannot use the session, on any route', () => {
  const routes = [
    ...platformRoutes().map((route) => ({ prefix: '', ...route })),
    ...deploymentRoutes(new Set()).map((route) => ({ prefix: `/deployments/${DEPLOYMENT_NAME}`, ...route })),
  ].filter(({ needs }) => needs !== 'open')

  it.each(firstInShort(PAGES, 2))('%j', async (page) => {
    expect(routes.length).toBeGreaterThan(150)
    const accepted: string[] = []
    for (const { method, path, prefix } of routes) {
      const target = weir.url + prefix + path.replaceAll(/\{\w+\}/g, ID)
      const body = method === 'GET' ? null : '{}'
      const headers = { ...page, ...JSON_TYPE, cookie }
      const answer = await fetch(target, { method, headers, body, redirect: 'manual' })
      const text = await answer.text()
      const isRefused =
        answer.status === 403 && codeIn(text) === (OTLP.test(path) ? OTLP_DENIED : 'foreign_origin')
      if (!isRefused) accepted.push(`${method} ${path}: ${answer.status} ${text}`)
      if (answer.headers.has('access-control-allow-origin')) accepted.push(`${method} ${path}: CORS`)
    }
    expect(accepted).toEqual([])
  })

  it('and cannot sign the browser in or out', async () => {
    for (const page of PAGES)
      for (const method of ['POST', 'DELETE']) {
        const init = {
          method,
          headers: { ...page, ...JSON_TYPE, cookie },
          body: JSON.stringify({ key: weir.key }),
        }
        expect((await fetch(`${weir.url}/auth/session`, init)).status).toBe(403)
      }
    expect((await fetch(`${weir.url}/auth/session`, { headers: { cookie } })).status).toBe(200)
  })
})
