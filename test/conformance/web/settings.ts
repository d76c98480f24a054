import { RunTree, Client } from 'langsmith'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { drained } from '../../support/servers/server.ts'
import type { UsedWeir } from '../../support/servers/use-weir.ts'
import type { UsedInterface } from '../../support/servers/web-interface.ts'
import { inLong } from '../../support/length.ts'

interface Used {
  server: { current(): UsedWeir }
  used: { current(): UsedInterface }
}

/** A page in a separate browser that is signed in with a key of this role. */
async function signedInAs(role: string, { server, used }: Used, path: string): Promise<Page> {
  const { url, json } = server.current()
  const { key } = await json<{ key: string }>('/api/v1/orgs/current/service-keys', {
    description: `a ${role}`,
    role,
  })
  const page = await (await used.current().browser.newContext()).newPage()
  await page.goto(`${url}/app${path}`)
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  return page
}

/** Stores a trace in a workspace; returns its id. */
async function sendTo(weir: UsedWeir, workspaceId: string): Promise<string> {
  const client = new Client({ apiUrl: weir.url, apiKey: weir.key, workspaceId })
  const run = new RunTree({
    name: 'elsewhere',
    run_type: 'chain',
    client,
    project_name: 'other',
    inputs: {},
  })
  await run.postRun()
  await run.end({})
  await run.patchRun()
  await client.awaitPendingTraceBatches()
  await drained(weir)
  return run.trace_id
}

/** The settings. The browser is signed in as an admin. */
export function settingsTests({ server, used }: Used): void {
  describe('settings', () => {
    it('shows a new key once, which works until it is revoked; by keyboard alone', async () => {
      const { page, open, broken } = used.current()
      const { url } = server.current()
      await open('/settings')
      const create = page.getByRole('button', { name: 'Create a service key' })
      await create.focus()
      await page.keyboard.press('Enter')
      await page.keyboard.type('ci of the shop')
      expect(await broken()).toEqual([])
      await page.keyboard.press('Enter')
      const code = page.getByRole('dialog').locator('code')
      await code.waitFor()
      expect(await broken()).toEqual([])
      await page.getByRole('button', { name: 'Copy the key' }).click()
      const key = await code.innerText()
      await eventually(async () => expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key))
      const status = async () =>
        (await fetch(`${url}/api/v1/auth/session`, { headers: { 'x-api-key': key } })).status
      expect(await status()).toBe(200)
      await page.keyboard.press('Escape')
      await code.waitFor({ state: 'detached' })
      const row = page.getByRole('row', { name: 'ci of the shop' })
      await row.getByText('not yet').or(row.getByRole('time')).first().waitFor()
      expect(await page.content()).not.toContain(key)
      await row.getByRole('button', { name: 'Revoke ci of the shop' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Revoke it' }).click()
      await eventually(async () => expect(await row.count()).toBe(0))
      expect(await status()).toBe(401)
    })

    inLong(() => {
      it('TEAM-9: an invitation makes a member and its key, which signs in', async () => {
        const { page, open, browser } = used.current()
        await open('/settings?view=members')
        await page.getByRole('button', { name: 'Invite', exact: true }).click()
        await page.getByRole('button', { name: 'Make the link' }).click()
        const link = await page.getByRole('dialog').locator('code').innerText()
        const invited = await (await browser.newContext()).newPage()
        await invited.goto(link)
        await invited.getByLabel('Email').fill('kim@acme.test')
        expect(invited.url()).not.toContain('token')
        await invited.getByLabel('Your name').fill('Kim')
        await invited.getByRole('button', { name: 'Accept' }).click()
        await invited.getByText('it is shown only this once').waitFor()
        await invited.getByRole('button', { name: 'Sign in' }).click()
        await invited.getByRole('button', { name: 'Sign out kim@acme.test' }).waitFor()
        await invited.goto(link)
        await invited.getByRole('alert').waitFor()
        await invited.context().close()
      })

      it('says what a role lacks, before any request is refused', async () => {
        const page = await signedInAs('user', { server, used }, '/settings')
        const refused: string[] = []
        page.on('response', (answer) => answer.status() === 403 && refused.push(answer.url()))
        const create = page.getByRole('button', { name: 'Create a service key' })
        await create.waitFor()
        expect([await create.isDisabled(), await create.getAttribute('title')]).toEqual([
          true,
          'This needs the permission organization:manage',
        ])
        await page.getByText('This needs the permission organization:read').waitFor()
        await page.getByText('You are signed in with a service key').first().waitFor()
        for (const [tab, text] of [
          ['Members', 'This needs the permission organization:read'],
          ['Audit log', 'This needs the permission organization:read'],
          ['Roles', 'runs:create'],
          ['Workspaces', 'The workspaces'],
        ] as const) {
          await page.getByRole('link', { name: tab, exact: true }).click()
          await page
            .getByText(text)
            .or(page.getByRole('region', { name: text }))
            .first()
            .waitFor()
        }
        expect(await page.getByRole('button', { name: 'Create a workspace' }).isDisabled()).toBe(true)
        expect(refused).toEqual([])
        await page.context().close()
      })
    })
  })
}

/** Changes of the workspace. The browser is signed in as an admin, and the project `trips` has traces. */
export function workspaceTests({ server, used }: Used): void {
  describe('the switch of workspaces', () => {
    it('shows the data of the chosen workspace on every page, keeps it in links, and finds traces of others', async () => {
      const { page, open, broken } = used.current()
      await open('/settings?view=workspaces')
      await page.getByRole('button', { name: 'Create a workspace' }).click()
      await page.getByRole('textbox', { name: 'Name' }).fill('Staging')
      await page.getByRole('button', { name: 'Save' }).click()
      const choice = page.getByRole('combobox', { name: 'Workspace' })
      await choice.waitFor()
      expect(await broken()).toEqual([])
      await open('/projects')
      await page.getByRole('link', { name: 'trips' }).waitFor()
      await choice.selectOption({ label: 'Staging' })
      await page.getByText('No trace has arrived yet').waitFor()
      const id = new URL(page.url()).searchParams.get('ws') ?? ''
      const trace = await sendTo(server.current(), id)
      await page.getByRole('link', { name: 'other' }).click()
      // A list under the pointer would not show new rows.
      await page.mouse.move(0, 0)
      await page.getByText('Live', { exact: true }).waitFor()
      await sendTo(server.current(), id)
      await eventually(async () => expect(await page.locator('[data-run]').count()).toBe(2))
      expect(new URL(page.url()).searchParams.get('ws')).toBe(id)
      await page.goBack()
      await page.goBack()
      await page.getByRole('link', { name: 'trips' }).waitFor()
      await open(`/traces/${trace}`)
      await page.getByText('This trace is in the workspace Staging').waitFor()
      expect(await broken()).toEqual([])
      await page.getByRole('link', { name: 'Open it there' }).click()
      await page.getByRole('treegrid').getByText('elsewhere').waitFor()
      await open('/projects?ws=00000000-0000-4000-8000-000000000000')
      await page.getByRole('button', { name: 'Open your own workspace' }).click()
      await page.getByRole('link', { name: 'trips' }).waitFor()
      await server.current().request(`/api/v1/workspaces/${id}`, { method: 'DELETE' })
    })
  })
}

/** Members, the audit log and retention. The browser is signed in as an admin. */
export function moreSettingsTests({ server, used }: Used): void {
  describe('more settings', () => {
    it('shows the sign-in screen on the next page once the key of the session was revoked', async () => {
      const { url, json, request } = server.current()
      const made = await json<{ id: string; key: string }>('/api/v1/orgs/current/service-keys', {
        description: 'revoked later',
        role: 'admin',
      })
      const context = await used.current().browser.newContext()
      const page = await context.newPage()
      await page.goto(`${url}/app/settings?view=display`)
      await page.getByLabel('API key').fill(made.key)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { name: 'Settings' }).waitFor()
      await request(`/api/v1/orgs/current/service-keys/${made.id}`, { method: 'DELETE' })
      await page.getByRole('link', { name: 'Prices', exact: true }).click()
      await page.getByLabel('API key').waitFor()
      await context.close()
    })

    it('adds, changes and removes members, which the audit log records', async () => {
      const { page, open } = used.current()
      await open('/settings?view=members')
      await page.getByRole('button', { name: 'Add a member' }).click()
      await page.getByLabel('Email').fill('grace@example.com')
      await page.getByLabel('Full name').fill('Grace')
      await page.getByRole('button', { name: 'Save' }).click()
      const row = page.getByRole('row', { name: 'Grace' })
      await row.getByRole('button', { name: 'Change grace@example.com' }).click()
      await page.getByRole('combobox', { name: 'Role' }).selectOption('viewer')
      await page.getByRole('button', { name: 'Save' }).click()
      await row.getByText('viewer').waitFor()
      await row.getByRole('button', { name: 'Remove grace@example.com' }).click()
      await page.getByRole('button', { name: 'Remove the member' }).click()
      await eventually(async () => expect(await row.count()).toBe(0))
      await page.getByRole('link', { name: 'Audit log' }).click()
      await page.getByText('member.remove').first().waitFor()
    })

    it('N19: filters the audit log by kind of change, author, subject and time, in the address', async () => {
      const { page, open, broken } = used.current()
      await open('/settings?view=audit')
      const log = page.getByRole('region', { name: 'The audit log' })
      const changes = log.getByRole('rowheader')
      const { audit_logs } = await server
        .current()
        .json<{ audit_logs: { action: string; actor: { api_key_id: string } }[] }>(
          '/api/v1/orgs/current/audit-logs?action=member',
        )
      await page.getByLabel('Change', { exact: true }).fill('member')
      await page.keyboard.press('Enter')
      await eventually(async () =>
        expect(await changes.allInnerTexts()).toEqual(audit_logs.map(({ action }) => action)),
      )
      await log.getByRole('button', { name: 'member.remove' }).first().click()
      await eventually(async () =>
        expect(new Set(await changes.allInnerTexts())).toEqual(new Set(['member.remove'])),
      )
      await log.getByRole('row').nth(1).getByRole('button').nth(1).click()
      const by = page.getByRole('button', { name: 'Remove: By' })
      await by.waitFor()
      expect(await broken()).toEqual([])
      const { searchParams } = new URL(page.url())
      expect(searchParams.get('action')).toBe('member.remove')
      expect(searchParams.get('actor')).toBe(audit_logs[0]?.actor.api_key_id)
      await open('/settings?view=audit&action=member&to=2020-01-01T00:00:00.000Z')
      await page.getByText('No change fits the filter').waitFor()
    })

    it('adds and removes filters of spans that a project leaves out', async () => {
      const { page, open, broken } = used.current()
      const { json } = server.current()
      await json('/api/v1/sessions', { name: 'web app' })
      await open('/settings?view=retention&q=web%20app')
      const row = page.getByRole('row', { name: 'web app' })
      await row.getByText('nothing').waitFor()
      await row.getByRole('button', { name: 'change the filters' }).click()
      const dialog = page.getByRole('dialog')
      const add = dialog.getByRole('button', { name: 'Add the filter' })
      await add.click()
      await dialog.getByRole('alert').waitFor()
      await dialog.getByRole('textbox', { name: 'Scope' }).fill('next.js')
      await dialog.getByRole('textbox', { name: 'Name of the span' }).fill('GET /*')
      await add.click()
      await dialog.getByText('scope next.js · name GET /*').waitFor()
      expect(await dialog.getByRole('textbox', { name: 'Scope' }).inputValue()).toBe('')
      await dialog.getByRole('textbox', { name: 'Attribute', exact: true }).fill('http.route')
      await add.click()
      await dialog.getByText('attribute http.route').waitFor()
      const filters = async () =>
        (await json<{ span_filters: object[] }[]>('/api/v1/sessions?name=web%20app'))[0]?.span_filters
      expect(await filters()).toEqual([{ scope: 'next.js', name: 'GET /*' }, { attribute: 'http.route' }])
      await dialog.getByRole('button', { name: 'Remove attribute http.route' }).click()
      await row.getByText('1 filter').waitFor()
      expect(await filters()).toEqual([{ scope: 'next.js', name: 'GET /*' }])
      expect(await broken()).toEqual([])
      await page.keyboard.press('Escape')
    })

    it('sets after how many days the runs of a project are deleted, and shows version and limits', async () => {
      const { page, open } = used.current()
      const { json } = server.current()
      await json('/api/v1/sessions', { name: 'kept a week' })
      await open('/settings?view=retention&q=KEPT')
      const row = page.getByRole('row', { name: 'kept a week' })
      await row.getByText('for good').waitFor()
      await row.getByRole('button', { name: 'Change the retention' }).click()
      await page.getByRole('spinbutton').fill('7')
      await page.getByRole('button', { name: 'Save' }).click()
      await row.getByText('7 days').waitFor()
      const [project] = await json<{ retention_days: number }[]>('/api/v1/sessions?name=kept%20a%20week')
      expect(project?.retention_days).toBe(7)
      await page.getByRole('link', { name: 'Server' }).click()
      const { weir } = await json<{ weir: { version: string } }>('/api/v1/info')
      await page.getByText(weir.version).first().waitFor()
      await page.getByText('Ingest body, decompressed').waitFor()
    })
  })
}
