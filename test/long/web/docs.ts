import { describe, expect, it } from 'vitest'
import type { UsedWeir } from '../../support/servers/use-weir.ts'
import { type UsedInterface, watchPage } from '../../support/servers/web-interface.ts'

const LOOKS = [
  ['dark', 1440],
  ['light', 320],
  ['light', 768],
] as const

/** Rules of axe that Swagger UI itself breaks, and that styles cannot fix. */
const THEIRS = ['heading-order', 'nested-interactive', 'region', 'scrollable-region-focusable']

interface Used {
  server: { current(): UsedWeir }
  used: { current(): UsedInterface }
}

/** The pages of /docs. The page of the platform is checked in every look. The browser is signed in as an admin. */
export function docsTests({ server, used }: Used): void {
  describe('/docs', () => {
    it('shows the routes of the platform, and tries one as the user who is signed in', async () => {
      const { page, broken } = used.current()
      await page.goto(`${server.current().url}/docs`)
      const info = page.locator('[id^="operations-"]', { hasText: '/api/v1/auth/session' })
      await page.getByText('Identity', { exact: true }).first().click()
      await info.filter({ hasText: 'Who the caller is' }).getByRole('button').first().click()
      await page.getByRole('button', { name: 'Execute' }).click()
      await page.locator('.live-responses-table').getByText('"role"').first().waitFor()
      await page.locator('.live-responses-table').getByText('200').first().waitFor()
      const faults: unknown[] = []
      for (const [theme, width] of LOOKS) {
        await page.emulateMedia({ colorScheme: theme })
        await page.setViewportSize({ width, height: 900 })
        const isWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')
        const own = (await broken()).filter((fault) => !THEIRS.some((rule) => fault.startsWith(rule)))
        const found = [...own, ...(isWide ? ['scrolls sideways'] : [])]
        if (found.length > 0) faults.push([theme, width, found])
      }
      await page.emulateMedia({ colorScheme: 'dark' })
      await page.setViewportSize({ width: 1440, height: 900 })
      expect(faults).toEqual([])
    })

    it('shows the routes of the deployment at its own port, and tries one with a key', async () => {
      const { browser, faults } = used.current()
      const { deploymentUrl, key } = server.current()
      const context = await browser.newContext()
      const page = await context.newPage()
      watchPage(page, deploymentUrl, faults)
      await page.goto(`${deploymentUrl}/docs`)
      await page.getByRole('button', { name: 'Authorize' }).first().click()
      await page.locator('.modal-ux input').first().fill(key)
      await page.locator('.modal-ux').getByRole('button', { name: 'Apply' }).first().click()
      await page.locator('.modal-ux').getByRole('button', { name: 'Close' }).first().click()
      await page.getByText('System', { exact: true }).first().click()
      await page.getByText('Versions, flags and graphs', { exact: true }).click()
      await page.getByRole('button', { name: 'Execute' }).click()
      await page.locator('.live-responses-table').getByText('langgraph_js_version').first().waitFor()
      await context.close()
    })
  })
}
