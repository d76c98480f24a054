import { Client, RunTree } from 'langsmith'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { useWeir } from '../../support/servers/use-weir.ts'
import { HAS_BROWSER, NO_BROWSER, useInterface } from '../../support/servers/web-interface.ts'
import { defectTests } from './traces/defects.ts'
import { findingTests } from './lists/findings.ts'
import { ingestTests } from './ingest.ts'
import { listTests } from './lists/list.ts'
import { threadTests } from './lists/threads.ts'
import { priceTests } from './prices.ts'
import { projectOf, sendAgentTrace } from './trace.ts'
import { tracePageTests } from './traces/trace-page.ts'
import { usageTests } from './usage.ts'
import { settingsTests } from './settings.ts'
import { inLong } from '../../support/length.ts'

/** A request of a page: what caused it, and when it was sent, in milliseconds since the page was opened. */
interface PageRequest {
  name: string
  initiatorType: string
  startTime: number
}

/** A page reads projects again after 10 s. */
const READ_AGAIN_MS = 9000
const REQUESTS = `performance.getEntriesByType('resource').map(({ name, initiatorType, startTime }) => ({ name, initiatorType, startTime }))`

describe.skipIf(!HAS_BROWSER)(`the web interface in a browser${NO_BROWSER}`, () => {
  const server = useWeir()
  const used = useInterface(server)

  const sendTrace = (question?: string) => sendAgentTrace(server.current(), question)

  it('signs in with a key, shows the snippet of an empty server, then the first trace, and opens it', async () => {
    const { url, key } = server.current()
    const { page, broken } = used.current()
    await page.goto(`${url}/`)
    await page.getByLabel('API key').fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page
      .getByRole('alert')
      .getByText(/unauthorized · request \S+/)
      .waitFor()
    expect(await broken()).toEqual([])
    await page.getByLabel('API key').fill(key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('No trace has arrived yet').waitFor()
    expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]))).toBe('[{},{}]')
    await page.getByText('LANGSMITH_ENDPOINT').waitFor()
    expect(await broken()).toEqual([])
    await page.getByRole('button', { name: 'Put a new key in' }).click()
    await page.getByText('lsv2_sk_••').waitFor()
    await page.getByRole('button', { name: 'Show the key' }).click()
    const made = /lsv2_sk_\w+/.exec(await page.locator('pre').innerText())?.[0] ?? ''
    const answer = await server.current().request('/api/v1/sessions', { headers: { 'x-api-key': made } })
    expect(answer.status).toBe(200)
    expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]))).toBe('[{},{}]')
    await sendTrace()
    await page.getByRole('link', { name: 'trips' }).click()
    await page.getByRole('row', { name: 'agent' }).click()
    await page.getByRole('treegrid').waitFor()
    expect(new URL(page.url()).pathname).toMatch(/^\/app\/traces\//)
  })

  inLong(() => {
    it('signs in once with the ticket of a link, and removes it from the address', async () => {
      const { url, json } = server.current()
      const { ticket } = await json<{ ticket: string }>('/api/v1/auth/tickets', {})
      for (const text of ['Projects', 'API key']) {
        const other = await used.current().browser.newContext()
        const tab = await other.newPage()
        await tab.goto(`${url}/app/#ticket=${ticket}`)
        await tab.getByText(text).first().waitFor()
        expect(tab.url()).not.toContain('ticket')
        await other.close()
      }
    })

    it('N3: opens the link to a run that the LangSmith clients build', async () => {
      const { id, trace_id } = await sendTrace()
      const { page, open } = used.current()
      const { url, json } = server.current()
      const run = await json<{ session_id: string }>(`/api/v1/runs/${id}`)
      const [workspace] = await json<{ id: string }[]>('/api/v1/workspaces')
      await open('/projects')
      await page.goto(`${url}/o/${workspace?.id}/projects/p/${run.session_id}/r/${id}?poll=true`)
      await page.getByRole('treegrid').waitFor()
      expect(new URL(page.url()).pathname).toBe(`/app/traces/${trace_id}`)
      expect(new URL(page.url()).searchParams.get('run')).toBe(id)
    })
  })

  it('opens the app_path of a run: messages, the result with its call, and a cost that adds up', async () => {
    const call = await sendTrace()
    const { url, json } = server.current()
    const { page } = used.current()
    const path = `/api/v1/runs/${call.id}`
    const found = await json<{ app_path: string; total_cost: string }>(path)
    await page.goto(url + found.app_path)
    const panel = page.locator('#run')
    await panel.getByText('18 °C').waitFor()
    await panel.getByText('The amounts add up to the total exactly.').waitFor()
    const text = await panel.innerText()
    for (const part of ['日本語 مرحبا', 'weather', 'eighteen', '<img src=x onerror=alert(1)>', 'spy.example'])
      expect(text).toContain(part)
    expect(text).toContain(`$${found.total_cost}`)
    expect(await panel.locator('img').count()).toBe(0)
  })

  it('shows a run that is sent while the list is open, and how it ends, without a reload', async () => {
    const id = await projectOf(server.current(), await sendTrace())
    const { page, open } = used.current()
    await open(`/projects/${id}`)
    await page.getByText('Live', { exact: true }).waitFor()
    const client = new Client({ apiUrl: server.current().url, apiKey: server.current().key })
    const run = new RunTree({
      name: 'newcomer',
      run_type: 'chain',
      client,
      project_name: 'trips',
      inputs: {},
    })
    await run.postRun()
    const row = page.getByRole('row', { name: 'newcomer' })
    await row.getByRole('img', { name: 'running' }).waitFor()
    await run.end({ done: true })
    await run.patchRun()
    await row.getByRole('img', { name: 'success' }).waitFor()
    await client.awaitPendingTraceBatches()
  })

  inLong(() => {
    it('shows the messages of a trace once each, with the call of a tool beside its result', async () => {
      const call = await sendTrace()
      const { page, open } = used.current()
      await open(`/traces/${call.trace_id}`)
      await page.getByRole('link', { name: 'Messages' }).click()
      const view = page.getByRole('region', { name: 'Messages of the trace' })
      await view.getByText('18 °C').waitFor()
      await view.getByText('How warm is it?').waitFor()
      expect(await view.getByText('How warm is it?').count()).toBe(1)
      expect(await view.locator('article', { hasText: 'Paris' }).first().innerText()).toContain('eighteen')
      await view.getByRole('button', { name: 'chat' }).click()
      await eventually(async () => expect(new URL(page.url()).searchParams.get('run')).toBe(call.id))
    })

    it('shares a trace with a reader who has no key, until the share ends', async () => {
      const call = await sendTrace()
      const { page, open, browser } = used.current()
      await open(`/traces/${call.trace_id}`)
      await page.getByRole('button', { name: 'Share' }).click()
      await page.getByLabel('The link ends').selectOption('after 1 day')
      await page.getByRole('button', { name: 'Make a link' }).click()
      await page.getByText('Everybody who has this link can read the whole trace until').waitFor()
      const link = await page.getByLabel('Link').inputValue()
      const other = await browser.newContext()
      const reader = await other.newPage()
      await reader.goto(link)
      await reader.getByRole('treegrid').getByText('chat').click()
      await reader.locator('#run').getByText('18 °C').waitFor()
      expect(await reader.getByRole('button', { name: 'Add feedback' }).count()).toBe(0)
      await page.getByRole('button', { name: 'Stop sharing' }).click()
      await page.getByRole('button', { name: 'Make a link' }).waitFor()
      await reader.goto(link)
      await reader.getByText('Not found').waitFor()
      const answer = await server.current().request(`/api/v1/runs/${call.id}/share`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ expires_at: new Date(Date.now() + 300).toISOString() }),
      })
      const short = (await answer.json()) as { share_token: string }
      await eventually(async () => {
        await reader.goto(new URL(`/public/${short.share_token}/r`, link).href)
        await reader.getByText('This link has ended').waitFor({ timeout: 1000 })
      })
      await other.close()
    })
  })

  const sent = async () => {
    const call = await sendTrace()
    return { project: await projectOf(server.current(), call), trace: call.trace_id, call: call.id }
  }
  inLong(() => {
    it('makes no read twice that the server names with a page, and loads no file twice', async () => {
      const { project, trace } = await sent()
      const { page, open } = used.current()
      const pages = {
        '/projects': page.getByRole('link', { name: 'trips' }),
        [`/projects/${project}`]: page.locator('[data-run]'),
        [`/traces/${trace}`]: page.locator('#tree [role=row]'),
      }
      for (const [path, row] of Object.entries(pages)) {
        const [answer] = await Promise.all([
          page.waitForResponse((one) => new URL(one.url()).pathname === `/app${path}`),
          open(path),
        ])
        const header = (await answer.allHeaders())['link'] ?? ''
        const named = [...header.matchAll(/<(\/api\/[^>]+)>/g)].map(([, url]) => url)
        expect(named.length, path).toBe(2)
        await row.first().waitFor()
        const requests = await page.evaluate<PageRequest[]>(REQUESTS)
        for (const url of named) {
          const own = requests.filter(({ name }) => name.endsWith(url ?? ''))
          const early = own.filter(({ startTime }) => startTime < READ_AGAIN_MS)
          expect([url, early.map(({ initiatorType }) => initiatorType)]).toEqual([url, ['link']])
        }
        const code = requests.filter(({ name }) => name.includes('/app/assets/'))
        expect(new Set(code.map(({ name }) => name)).size, path).toBe(code.length)
      }
    })
  })

  listTests({ server, used })
  defectTests({ server, used })
  inLong(() => findingTests({ server, used }))
  inLong(() => threadTests({ server, used }))
  tracePageTests({ server, used })
  usageTests({ server, used, sent })
  priceTests({ server, used })
  ingestTests({ server, used })
  settingsTests({ server, used })
})
