import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fixedPort } from '../../support/fixed-port.ts'
import { CLIENT, type OidcProvider, startOidcProvider } from '../../support/sign-in/oidc-provider.ts'
import { runCommand } from '../../support/run-command.ts'
import { startWeir, type WeirProcess } from '../../support/servers/server.ts'
import {
  buildInterface,
  HAS_BROWSER,
  launchBrowser,
  NO_BROWSER,
} from '../../support/servers/web-interface.ts'

describe.skipIf(!HAS_BROWSER)(`TEAM-2: sign-in at a provider in a browser${NO_BROWSER}`, () => {
  let provider: OidcProvider
  let weir: WeirProcess
  let browser: Browser
  let page: Page
  beforeAll(async () => {
    buildInterface()
    const PORT = String(await fixedPort())
    const PUBLIC_URL = `http://127.0.0.1:${PORT}`
    provider = await startOidcProvider([`${PUBLIC_URL}/api/v1/oauth/custom-oidc/callback`])
    weir = await startWeir({
      PORT,
      PUBLIC_URL,
      OAUTH_ISSUER_URL: provider.issuer,
      OAUTH_CLIENT_ID: CLIENT.id,
      OAUTH_CLIENT_SECRET: CLIENT.secret,
      OAUTH_NAME: 'Acme',
      OAUTH_GROUP_ROLES: 'staff=operator',
      OAUTH_AUTO_LOGIN: 'on',
      KEY_SIGN_IN: 'off',
      OAUTH_IDP_LOGOUT_ENABLED: 'true',
    })
    browser = await launchBrowser()
    page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage()
  })
  afterAll(async () => {
    await browser?.close()
    expect(await weir?.stop()).toBe(0)
    await provider?.close()
  })

  it('explains a refusal, signs in with the button, opens the page that was asked for, and signs out', async () => {
    const acme = page.getByRole('button', { name: 'Sign in with Acme' })
    provider.accounts.set('ada', {
      sub: 'ada',
      claims: { email: 'ada@acme.test', email_verified: true, name: 'Ada', groups: [] },
    })
    // OAUTH_AUTO_LOGIN leads straight to the provider, and the refusal back to the page.
    await page.goto(`${weir.url}/app/usage`)
    await page.getByRole('alert').getByText('Your account has no role here').waitFor()
    expect(new URL(page.url()).pathname).toBe('/app/sign-in')
    expect(await page.getByLabel('API key').count()).toBe(0)

    provider.accounts.get('ada')!.claims['groups'] = ['staff']
    await acme.click()
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/app/projects')
    expect(await page.evaluate('document.cookie')).toBe('')

    const fresh = await (await browser.newContext()).newPage()
    await fresh.goto(`${weir.url}/app/usage?range=7d`)
    await fresh.getByRole('navigation', { name: 'Pages' }).waitFor()
    expect(new URL(fresh.url()).pathname).toBe('/app/usage')
    await fresh.getByRole('button', { name: 'Sign out ada@acme.test' }).click()
    await fresh.waitForURL(`${provider.issuer}/**`)
    // The provider asks whether to sign out there too. Back at Weir, nothing signs in by itself.
    await fresh.goto(`${weir.url}/app/`)
    await fresh.getByRole('button', { name: 'Sign in with Acme' }).waitFor()
  })

  it('TEAM-1: weir open signs in although keys do not, on the machine of the server only', async () => {
    const { dataDir: DATA_DIR, key: WEIR_API_KEY, url } = weir
    const { stdout } = await runCommand(['open'], { env: { DATA_DIR, WEIR_API_KEY } })
    const fresh = await (await browser.newContext()).newPage()
    await fresh.goto(stdout.trim())
    await fresh.getByRole('button', { name: 'Sign out admin@localhost' }).waitFor()
    const elsewhere = { WEIR_API_KEY, WEIR_URL: url, DATA_DIR: '/nowhere' }
    const refused = await runCommand(['open'], { env: elsewhere })
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('Keys do not sign in here') })
  })
})
