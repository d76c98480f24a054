import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { fixedPort } from '../../support/fixed-port.ts'
import { startWeir, type WeirProcess } from '../../support/servers/server.ts'
import { HAS_BROWSER, NO_BROWSER, signIn, useInterface } from '../../support/servers/web-interface.ts'
import { CLIENT, type OidcProvider, startOidcProvider } from '../../support/sign-in/oidc-provider.ts'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'

const FILE = `version: 1
workspaces: [{name: ml, limits: {traces_per_month: 5}}]
members: [{email: ada@acme.test, role: user}]
service_keys: [{name: ci, role: user, key: {env: CI_KEY}}]
prices: [{name: house, match: ^house$, prompt_per_million: 1, completion_per_million: 2, workspaces: [Default]}]
`

describe.skipIf(!HAS_BROWSER)(`a team in the web interface${NO_BROWSER}`, () => {
  let folder: Awaited<ReturnType<typeof temporaryDir>>
  let provider: OidcProvider
  let weir: WeirProcess | undefined
  const current = (): WeirProcess => weir!
  beforeAll(async () => {
    const PORT = String(await fixedPort())
    const PUBLIC_URL = `http://127.0.0.1:${PORT}`
    folder = await temporaryDir()
    const SETUP_FILE = join(folder.dir, 'weir.yaml')
    await writeFile(SETUP_FILE, FILE)
    provider = await startOidcProvider([`${PUBLIC_URL}/api/v1/oauth/custom-oidc/callback`])
    weir = await startWeir({
      PORT,
      PUBLIC_URL,
      SETUP_FILE,
      CI_KEY: 'the_key_of_ci_0123456789',
      OAUTH_ISSUER_URL: provider.issuer,
      OAUTH_CLIENT_ID: CLIENT.id,
      OAUTH_CLIENT_SECRET: CLIENT.secret,
    })
  })
  const used = useInterface({ current })
  beforeAll(() => signIn(used.current().page, current()))
  afterAll(async () => {
    expect(await weir?.stop()).toBe(0)
    await provider?.close()
    await folder?.remove()
  })

  /** The open dialog refuses `action`, until its override is chosen. */
  async function refusesWithoutOverride(page: Page, action: string): Promise<void> {
    const dialog = page.getByRole('dialog')
    await dialog.getByText('A set-up file manages this.').waitFor()
    const button = dialog.getByRole('button', { name: action })
    if (await button.isEnabled()) await button.click()
    expect(await dialog.locator('input[name=override]:invalid').count()).toBe(1)
    await dialog.getByLabel('Change it here all the same').check()
    expect(await button.isEnabled()).toBe(true)
  }

  it('TEAM-12: marks what the set-up file manages, changes it with the override only, and shows what then differs', async () => {
    const { page, open, broken } = used.current()
    await open('/settings?view=setup')
    await page.getByText('Everything is as the file says').waitFor()
    await page.getByRole('link', { name: 'Members', exact: true }).click()
    const ada = page.getByRole('row', { name: 'ada@acme.test' })
    await ada.getByText('set-up file').waitFor()
    expect(await page.getByRole('row', { name: 'admin@localhost' }).getByText('set-up file').count()).toBe(0)
    await ada.getByRole('button', { name: 'Change ada@acme.test' }).click()
    await page.getByRole('dialog').getByLabel('Role').selectOption('viewer')
    await refusesWithoutOverride(page, 'Save')
    expect(await broken()).toEqual([])
    await page.getByRole('button', { name: 'Save' }).click()
    await ada.getByRole('cell', { name: 'viewer' }).waitFor()
    await page.getByRole('link', { name: 'Set-up', exact: true }).click()
    const different = page.getByRole('row', { name: 'ada@acme.test' })
    await different.getByText('is different').waitFor()
    expect(await different.innerText()).toContain('role')
    expect(await broken()).toEqual([])

    const dialogs: [path: string, row: string, button: string, action: string][] = [
      ['/settings', 'ci', 'Revoke ci', 'Revoke it'],
      ['/settings?view=workspaces', 'ml', 'Rename ml', 'Save'],
      ['/settings?view=workspaces', 'ml', 'Delete ml', 'Delete it'],
      ['/settings?view=members', 'ada@acme.test', 'Remove ada@acme.test', 'Remove the member'],
      ['/prices', 'house', 'Edit house', 'Save'],
      ['/prices', 'house', 'Remove house', 'Remove it'],
    ]
    for (const [path, name, button, action] of dialogs) {
      await open(path)
      const row = page.getByRole('row', { name }).filter({ hasText: 'set-up file' })
      await row.getByRole('button', { name: button }).click()
      await refusesWithoutOverride(page, action)
    }
    await page.getByRole('button', { name: 'Remove it' }).click()
    await page.getByText('The workspace has no prices of its own').waitFor()
  })

  it('TEAM-12: a limit that the set-up file names says so when it is changed, and changes with the override', async () => {
    const { page, open } = used.current()
    await open('/usage')
    const form = page.getByRole('form', { name: 'Set a limit' })
    await form.getByLabel('Workspace or API key').selectOption('ml')
    await form.getByLabel('Traces a month').fill('7')
    await form.getByRole('button', { name: 'Set the limit' }).click()
    await form.getByText('managed_by_file').waitFor()
    await form.getByLabel('Change it here all the same').check()
    await form.getByRole('button', { name: 'Set the limit' }).click()
    const row = page.getByRole('row', { name: 'ml' })
    await row.getByText('of 7').waitFor()
    await row.getByRole('button', { name: 'Remove the limit of ml' }).click()
    await row.getByRole('button', { name: 'Remove it here all the same' }).click()
    await page.getByText('No workspace and no key has a limit').waitFor()
  })

  it('TEAM-9: an invitation lets its person in at the provider, once, and shows no one its secret again', async () => {
    const { page, open, broken, browser } = used.current()
    await open('/settings?view=members')
    await page.getByRole('button', { name: 'Invite', exact: true }).click()
    await page.getByLabel('Email, verified by the provider').fill('zoe@acme.test')
    await page.getByRole('dialog').getByLabel('Role').selectOption('operator')
    await page.getByRole('button', { name: 'Make the link' }).click()
    const link = await page.getByRole('dialog').locator('code').innerText()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('region', { name: 'Invitations' }).getByText('zoe@acme.test').waitFor()
    expect(await page.content()).not.toContain(link)
    const invited = await (await browser.newContext()).newPage()
    await invited.goto(link)
    await invited.getByText('with the address zoe@acme.test').waitFor()
    expect(invited.url()).toBe(`${current().url}/app/invite`)
    provider.person = 'zoe'
    const claims = { email: 'zoe@acme.test', email_verified: true, name: 'Zoe' }
    provider.accounts.set('zoe', { sub: 'zoe', claims })
    await invited.getByRole('button', { name: /^Sign in with / }).click()
    await invited.getByRole('button', { name: 'Sign out zoe@acme.test' }).waitFor()
    await open('/settings?view=members')
    const row = page.getByRole('row', { name: 'zoe@acme.test' })
    await row.getByRole('cell', { name: 'operator' }).waitFor()
    expect(await page.getByRole('region', { name: 'Invitations' }).count()).toBe(0)
    expect(await broken()).toEqual([])
    await invited.goto(link)
    await invited.getByRole('alert').waitFor()
    await invited.context().close()
  })

  it('TEAM-10: a token of SCIM is shown once, opens SCIM until it is revoked', async () => {
    const { page, open, broken } = used.current()
    await open('/settings?view=members')
    await page.getByRole('button', { name: 'Create a SCIM token' }).click()
    await page.getByLabel('Name, for whom or what it is').fill('Okta')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    const codes = page.getByRole('dialog').locator('code')
    await codes.nth(1).waitFor()
    expect(await broken()).toEqual([])
    const [address = '', token = ''] = await codes.allInnerTexts()
    const status = async (): Promise<number> =>
      (await fetch(`${address}/Users`, { headers: { authorization: `Bearer ${token}` } })).status
    expect([address, await status()]).toEqual([`${current().url}/scim/v2`, 200])
    await page.getByRole('button', { name: 'Done' }).click()
    const row = page.getByRole('row', { name: 'Okta' })
    await row.waitFor()
    expect(await page.content()).not.toContain(token)
    await row.getByRole('button', { name: 'Revoke Okta' }).click()
    await page.getByRole('button', { name: 'Revoke it' }).click()
    await eventually(async () => expect(await row.count()).toBe(0))
    expect(await status()).toBe(401)
  })
})
