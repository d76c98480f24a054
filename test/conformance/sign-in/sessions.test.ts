import { Client } from '@langchain/langgraph-sdk'
import { beforeAll, describe, expect, it } from 'vitest'
import { useDeployment } from '../deployments/use-deployment.ts'

const deployment = useDeployment()
let cookie: string
let mount: string

const secretOf = (text: string): string => text.slice(text.indexOf('=') + 1)
const JSON_TYPE = { 'content-type': 'application/json' }

async function search(base: string, headers: Record<string, string>) {
  const init = { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body: '{}' }
  const answer = await fetch(`${base}/threads/search`, init)
  await answer.body?.cancel()
  return [answer.status, answer.headers.get('access-control-allow-origin')]
}

beforeAll(async () => {
  const { weir } = deployment()
  const ticket = await weir.json<{ ticket: string; url: string }>('/auth/tickets', { method: 'POST' })
  expect(ticket.url).toBe(`${weir.url}/app/#ticket=${ticket.ticket}`)
  const signedIn = await fetch(`${weir.url}/auth/session`, {
    method: 'POST',
    headers: { ...JSON_TYPE, origin: weir.url },
    body: JSON.stringify({ ticket: ticket.ticket }),
  })
  expect(signedIn.status).toBe(200)
  cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const { features } = (await signedIn.json()) as { features: { deployments: string[] } }
  mount = `${weir.url}/deployments/${features.deployments[0]}`
})

describe('IDENTITY-15, IDENTITY-18: the session of a browser', () => {
  it('is accepted by a deployment under the address of the platform, for an unmodified client', async () => {
    const client = new Client({ apiUrl: mount, apiKey: null, defaultHeaders: { cookie } })
    const { thread_id } = await client.threads.create()
    const answer = await client.runs.wait(thread_id, 'tokens', { input: { tokens: 2 } })
    expect(answer).toMatchObject({ done: true })
  })

  it('has no CORS headers there, and pages of another port or host are refused', async () => {
    const { url } = deployment().weir
    expect(await search(mount, { cookie, origin: url })).toEqual([200, null])
    const headers = { ...JSON_TYPE, cookie, origin: url }
    const keyed = await deployment().request('/threads/search', { method: 'POST', headers, body: '{}' })
    expect([keyed.status, keyed.headers.get('access-control-allow-origin')]).toEqual([200, '*'])
    expect(await search(mount, { cookie, origin: 'http://127.0.0.1:3000' })).toEqual([403, null])
    expect(await search(mount, { cookie, 'sec-fetch-site': 'same-site' })).toEqual([403, null])
  })

  it('is not accepted at the port of the deployment, under any name', async () => {
    const { deploymentUrl } = deployment().weir
    const secret = secretOf(cookie)
    const named = `${cookie}; weir_session=${secret}; weir_session_${new URL(deploymentUrl).port}=${secret}`
    expect((await search(deploymentUrl, { cookie: named }))[0]).toBe(401)
    const forwarded = { cookie: named, 'x-forwarded-prefix': new URL(mount).pathname }
    expect((await search(deploymentUrl, forwarded))[0]).toBe(401)
  })
})
