import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { LONG_MS } from '../../support/campaign.ts'
import { eventually } from '../../support/eventually.ts'
import { startWeir, type WeirProcess } from '../../support/servers/server.ts'
import { HAS_BROWSER, launchBrowser, NO_BROWSER } from '../../support/servers/web-interface.ts'

// A browser and a server start.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const GRAPHS = fileURLToPath(new URL('../../fixtures/hostile-code/langgraph.json', import.meta.url))
const NAME = 'hostile'

describe.skipIf(!HAS_BROWSER)(
  `D-64: pages of deployed code in the browser of an administrator${NO_BROWSER}`,
  () => {
    let weir: WeirProcess
    let browser: Browser
    let context: BrowserContext
    let page: Page
    let keys: number

    const keyCount = async (): Promise<number> =>
      (await weir.json<unknown[]>('/api/v1/orgs/current/service-keys')).length
    /** The result that a page shows, once it has one. */
    const resultOf = async (url: string): Promise<string> => {
      await page.goto(url)
      return await eventually(async () => {
        const text = (await page.locator('#result').textContent()) ?? ''
        expect(text).not.toBe('loading')
        return text
      })
    }

    beforeAll(async () => {
      weir = await startWeir({ GRAPHS, DEPLOYMENT_NAME: NAME })
      browser = await launchBrowser()
      context = await browser.newContext()
      page = await context.newPage()
      const signedIn = await context.request.post(`${weir.url}/api/v1/auth/session`, {
        data: { key: weir.key },
      })
      expect(signedIn.status()).toBe(200)
      keys = await keyCount()
    })
    afterAll(async () => {
      await browser.close()
      expect(await weir.stop()).toBe(0)
    })

    it('cannot use the session: neither a page nor a picture, at the interface or the deployment port', async () => {
      const mount = `/deployments/${NAME}`
      for (const path of [`${mount}/report`, `${mount}/picture.svg`]) {
        expect(await resultOf(weir.url + path)).toMatch(/^(?:refused |answer .*"unauthorized")/)
        // There the requests of the page go to the app itself.
        expect(await resultOf(weir.deploymentUrl + path)).not.toContain('lsv2')
      }
      expect(await resultOf(`${weir.deploymentUrl}/report`)).not.toContain('lsv2')
      expect(await keyCount()).toBe(keys)
      const session = await context.request.get(`${weir.url}/api/v1/auth/session`)
      expect(session.status()).toBe(200)
    })

    it('have no cookies, no storage, no service worker, and no other window of the interface', async () => {
      await page.goto(`${weir.url}/deployments/${NAME}/report`)
      const found = await page.evaluate(`(async () => {
      const attempt = async (act) => {
        try {
          return 'worked ' + String(await act())
        } catch {
          return 'refused'
        }
      }
      const popup = window.open('/app/')
      return [
        await attempt(() => document.cookie),
        await attempt(() => (document.cookie = 'weir_session=x; path=/app')),
        await attempt(() => localStorage.length),
        await attempt(() => navigator.serviceWorker.register('sw.js')),
        await attempt(() => popup?.document.title ?? Promise.reject(new Error('no window'))),
        globalThis.origin,
      ]
    })()`)
      expect(found).toEqual(['refused', 'refused', 'refused', 'refused', 'refused', 'null'])
    })

    it('cannot be shown in frames', async () => {
      const frame = await context.newPage()
      await frame.goto(`${weir.deploymentUrl}/report`)
      const src = `${weir.deploymentUrl}/deployments/${NAME}/report`
      await frame.evaluate(`new Promise((resolve) => {
      const element = document.createElement('iframe')
      element.src = ${JSON.stringify(src)}
      element.addEventListener('load', resolve)
      document.body.append(element)
    }).then(() => undefined)`)
      const texts = frame
        .frames()
        .map((one) => one.evaluate("document.querySelector('#result')?.textContent"))
      expect((await Promise.all(texts)).slice(1)).toEqual([undefined])
      await frame.close()
    })
  },
)
