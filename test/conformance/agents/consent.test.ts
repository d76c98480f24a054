import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useWeir } from '../../support/servers/use-weir.ts'
import { HAS_BROWSER, launchBrowser, NO_BROWSER } from '../../support/servers/web-interface.ts'

const weir = useWeir()
let browser: Browser
let site: Server

/** A page of another site that sends its visitor to the consent, and tries to frame it; also where clients return. */
beforeAll(async () => {
  if (!HAS_BROWSER) return
  site = createServer((req, res) => {
    const { searchParams } = new URL(req.url ?? '', 'http://site')
    const address = (searchParams.get('to') ?? '').replaceAll('&', '&amp;')
    res.setHeader('content-type', 'text/html')
    res.end(`<title>site</title><a href="${address}">connect</a><iframe src="${address}"></iframe>`)
  })
  site.listen(0)
  await once(site, 'listening')
  browser = await launchBrowser()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  site?.close()
})

it.runIf(HAS_BROWSER)(
  `OAU-4: a browser that comes from another site gives its consent, and the page is not framed${NO_BROWSER}`,
  async () => {
    const { url, key } = weir.current()
    const { port } = site.address() as AddressInfo
    const callback = `http://127.0.0.1:${port}/callback`
    const post = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json' }
      return await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    }
    const registered = await post('/oauth/register', { redirect_uris: [callback], client_name: 'From afar' })
    const { client_id } = (await registered.json()) as { client_id: string }
    const query = new URLSearchParams({
      response_type: 'code',
      client_id,
      redirect_uri: callback,
      code_challenge: createHash('sha256').update('v'.repeat(43)).digest('base64url'),
      code_challenge_method: 'S256',
    })
    const [pair = ''] = (await post('/auth/session', { key })).headers.getSetCookie()
    const [name = '', value = ''] = pair.split(';')[0]?.split('=') ?? []
    const context = await browser.newContext()
    await context.addCookies([{ name, value, url, sameSite: 'Strict', httpOnly: true }])
    const page = await context.newPage()
    const to = encodeURIComponent(`${url}/oauth/authorize?${query.toString()}`)
    await page.goto(`http://localhost:${port}/?to=${to}`)
    await page.getByRole('link', { name: 'connect' }).waitFor()
    // A page that must not be framed becomes an error page of the browser.
    const frame = page.frames()[1]
    expect(await frame?.evaluate(`document.querySelector('form') === null`)).toBe(true)
    await page.getByRole('link', { name: 'connect' }).click()
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.waitForURL(/\/callback\?/)
    const answer = new URL(page.url()).searchParams
    expect([answer.get('code')?.slice(0, 8), answer.get('iss')]).toEqual(['weir_ac_', url])
    await context.close()
  },
)
