import { describe, expect, it, vi } from 'vitest'
import { checkLooks } from '../../conformance/web/accessibility.ts'
import { DEPLOYMENT, useDeploymentPages, useStudio } from '../../conformance/web/studio.ts'
import { addRevision, createDeployment } from '../../support/deployments/deploy-project.ts'
import { eventually } from '../../support/eventually.ts'
import type { WeirRequest } from '../../support/servers/server.ts'
import { DEPLOYMENT_NAME } from '../../support/servers/weir-pool.ts'
import { HAS_BROWSER, NO_BROWSER } from '../../support/servers/web-interface.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Chromium goes through many pages.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

/** Reads a live stream until it reports a change of deployments. */
async function untilChange({ body }: Response): Promise<void> {
  const reader = (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes('event: deployments')) {
    const { done, value = '' } = await reader.read()
    expect(done).toBe(false)
    text += value
  }
  await reader.cancel()
}

describe.skipIf(!HAS_BROWSER)(`deployments and Studio in a browser${NO_BROWSER}`, () => {
  const { server, used } = useDeploymentPages()
  const { studio, graph, steps, runKind } = useStudio(used)

  it('a thread of traces that a deployment ran opens in Studio', async () => {
    const { page, open } = used.current()
    const thread = await runKind('sub')
    await graph().locator('[data-node="finish"][data-state="success"]').waitFor()
    // The newest assistant is first in the list. It is not the assistant of the thread.
    await server.current().json(`${DEPLOYMENT}/assistants`, { graph_id: 'hostile' })
    const [first] = await server
      .current()
      .json<{ graph_id: string }[]>(`${DEPLOYMENT}/assistants/search`, { limit: 1 })
    expect(first?.graph_id).toBe('hostile')
    await eventually(async () => {
      const [project] = await server
        .current()
        .json<{ id: string }[]>(`/api/v1/sessions?name=${DEPLOYMENT_NAME}`)
      expect(project).toBeDefined()
      await open(`/threads/${thread}?project=${project?.id}`)
    })
    await page.getByRole('link', { name: 'Open in Studio' }).click()
    await page.waitForURL(new RegExp(`${DEPLOYMENT}/studio/${thread}`))
    await graph().getByRole('heading', { name: 'kinds' }).waitFor()
    await graph().locator('[data-node="finish"]').waitFor()
    const gone = await server.current().json<{ assistant_id: string }>(`${DEPLOYMENT}/assistants`, {
      graph_id: 'hostile',
    })
    await server.current().request(`${DEPLOYMENT}/assistants/${gone.assistant_id}`, { method: 'DELETE' })
    await open(`${DEPLOYMENT}/studio/${thread}?assistant=${gone.assistant_id}&checkpoint=gone`)
    await page.getByText('The assistant of the address cannot be read').waitFor()
    await page.getByText('The checkpoint of the address is not in the timeline').waitFor()
    await graph().getByRole('heading', { name: 'kinds' }).waitFor()
  })

  it('ui §5: j and k go through the rows of each list', async () => {
    const { page, open } = used.current()
    const sent = (method: string, body: object): WeirRequest => ({
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    for (const key of ['one', 'two'])
      await server
        .current()
        .request(`${DEPLOYMENT}/store/items`, sent('PUT', { namespace: ['keys'], key, value: { said: key } }))
    await server.current().json(`${DEPLOYMENT}/threads`, {})
    const { thread_id } = await server.current().json<{ thread_id: string }>(`${DEPLOYMENT}/threads`, {})
    for (const kind of ['custom', 'custom'])
      await server.current().json(`${DEPLOYMENT}/threads/${thread_id}/runs/wait`, {
        assistant_id: 'kinds',
        input: { kind },
      })
    // The threads are listed by their latest activity, so the list moves while a run is active.
    await eventually(async () =>
      expect(await server.current().json(`${DEPLOYMENT}/runs/search`, { status: 'running' })).toEqual([]),
    )
    await server.current().json(`${DEPLOYMENT}/runs/crons`, { assistant_id: 'kinds', schedule: '0 0 1 1 *' })
    const goThrough = async (label: string) => {
      const rows = page.getByRole('region', { name: label, exact: true }).locator('tbody tr')
      await rows.first().waitFor()
      const focused = () =>
        page.evaluate<number>(
          `[...document.querySelectorAll('tbody tr')].findIndex((row) => row.contains(document.activeElement))`,
        )
      const places: number[] = []
      for (const key of ['j', 'j', 'k']) {
        await page.keyboard.press(key)
        places.push(await focused())
      }
      const second = Math.min(1, (await rows.count()) - 1)
      expect([label, ...places]).toEqual([label, 0, second, 0])
    }
    await open('/deployments')
    await goThrough('Deployments')
    await page.getByRole('link', { name: DEPLOYMENT_NAME, exact: true }).click()
    for (const tab of ['Runs', 'Threads', 'Assistants', 'Crons', 'Store']) {
      await page.getByRole('link', { name: tab, exact: true }).click()
      await goThrough(tab === 'Store' ? 'Items of the store' : tab)
    }
  })

  it('shows the versions of an assistant page by page', async () => {
    const { json, request } = server.current()
    const made = await json<{ assistant_id: string }>(`${DEPLOYMENT}/assistants`, {
      graph_id: 'kinds',
      name: 'often changed',
    })
    const headers = { 'content-type': 'application/json' }
    const PAGE = 50
    for (let version = 2; version <= PAGE + 1; version += 1)
      await request(`${DEPLOYMENT}/assistants/${made.assistant_id}`, {
        method: 'PATCH',
        headers,
        body: JSON.stringify({ metadata: { version } }),
      })
    const { page, open } = used.current()
    await open(`${DEPLOYMENT}?view=assistants`)
    const row = page.getByRole('row').filter({ hasText: 'often changed' })
    await row.getByRole('button', { name: `${PAGE + 1}, show all` }).click()
    const versions = page.getByRole('dialog').locator('tbody tr')
    await eventually(async () => expect(await versions.count()).toBe(PAGE))
    await page.getByRole('dialog').getByRole('button', { name: 'Show more' }).click()
    await eventually(async () => expect(await versions.count()).toBe(PAGE + 1))
    await request(`${DEPLOYMENT}/assistants/${made.assistant_id}`, { method: 'DELETE' })
  })

  it('N13: the log of a deployment shows new lines without a reload', async () => {
    const { page, open, broken } = used.current()
    const controlPlane = {
      fetch: server.current().request,
      json: async (path: string, init?: WeirRequest) => (await server.current().request(path, init)).json(),
    } as unknown as Parameters<typeof createDeployment>[0]
    const live = await server.current().request('/api/v1/live?topic=deployments')
    const { id, name } = await createDeployment(controlPlane, `logged-${Date.now()}`)
    await untilChange(live)
    await open('/deployments')
    await page.getByRole('link', { name, exact: true }).click()
    await page.getByRole('link', { name: 'Log', exact: true }).click()
    await page.getByText('There is no line yet').waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    await addRevision(controlPlane, id, new Uint8Array([1]))
    await page
      .getByRole('log')
      .getByText(/revision 1: CREATE_FAILED/)
      .waitFor()
    await page.getByLabel('Lines with this text').fill('AWAITING')
    await page
      .getByRole('log')
      .getByText(/CREATE_FAILED/)
      .waitFor({ state: 'detached' })
    expect(await broken()).toEqual([])
    await page.reload()
    await eventually(async () =>
      expect(await page.getByLabel('Lines with this text').inputValue()).toBe('AWAITING'),
    )
    await server.current().request(`/v2/deployments/${id}`, { method: 'DELETE' })
  })

  it('#57: keeps an error at its node, after a reload too', async () => {
    await runKind('fail')
    const { page } = used.current()
    await graph().locator('[data-node="respond"][data-state="error"]').waitFor()
    await graph().getByText('no more quota').waitFor()
    await page.reload()
    await graph().locator('[data-node="respond"][data-state="error"]').waitFor()
  })

  it('#207: shows parallel branches side by side in one step', async () => {
    await runKind('fan')
    await steps()
      .filter({ hasText: /piece\s*piece\s*piece/ })
      .waitFor()
  })

  it('#169: opens a state with null values', async () => {
    const { page, open } = used.current()
    const { thread_id } = await server.current().json<{ thread_id: string }>(`${DEPLOYMENT}/threads`, {})
    await server.current().json(`${DEPLOYMENT}/threads/${thread_id}/runs/wait`, {
      assistant_id: 'kinds',
      input: { kind: 'custom', answer: null, item: null },
    })
    await open(`${studio}/${thread_id}?assistant=kinds`)
    await page.getByRole('region', { name: 'State' }).getByText('null').first().waitFor()
  })

  it('shows the run of another client while it runs, and cancels it with a rollback', async () => {
    const { page, open } = used.current()
    const { thread_id } = await server.current().json<{ thread_id: string }>(`${DEPLOYMENT}/threads`, {})
    await server.current().json(`${DEPLOYMENT}/threads/${thread_id}/runs/wait`, {
      assistant_id: 'kinds',
      input: { kind: 'custom' },
    })
    await open(`${studio}/${thread_id}?assistant=kinds`)
    await steps().first().waitFor()
    const before = await steps().count()
    await server.current().json(`${DEPLOYMENT}/threads/${thread_id}/runs`, {
      assistant_id: 'kinds',
      input: { kind: 'slow' },
    })
    await graph().locator('[data-node="respond"][data-state="running"]').waitFor()
    await page.getByRole('region', { name: 'Runs' }).getByRole('button', { name: 'Roll back' }).click()
    await eventually(async () => expect(await steps().count()).toBe(before))
  })

  it('goes on with a run after a reload in the middle of it', async () => {
    await runKind('slow')
    await graph().locator('[data-node="respond"]').waitFor()
    await used.current().page.reload()
    await graph().locator('[data-node="respond"][data-state="running"]').waitFor()
    await used
      .current()
      .page.getByRole('region', { name: 'Runs' })
      .getByRole('button', { name: 'Interrupt' })
      .click()
    await used.current().page.getByRole('region', { name: 'Runs' }).getByText('cancelled').waitFor()
    await graph().locator('[data-node="respond"][data-state="running"]').waitFor({ state: 'detached' })
  })

  it('stops before a breakpoint, and goes on', async () => {
    const { page, open } = used.current()
    await open(`${studio}?assistant=kinds`)
    await graph().getByRole('button', { name: 'finish' }).press('Enter')
    await page.getByRole('button', { name: 'Stop before finish' }).click()
    await page.getByRole('textbox', { name: 'kind' }).fill('custom')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('button', { name: 'Go on' }).click()
    await graph().locator('[data-node="finish"][data-state="success"]').waitFor()
    // A new run is shown in place of the earlier checkpoint that was selected.
    await steps().last().getByRole('button').click()
    await page.waitForURL(/checkpoint=/)
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.waitForURL((url) => !url.searchParams.has('checkpoint'))
    await page.getByRole('button', { name: 'Go on' }).waitFor()
  })

  it('have no accessibility faults according to axe, in both themes and three widths', async () => {
    const { page, open } = used.current()
    const asked = await runKind('ask')
    await page.getByRole('form', { name: 'Questions' }).waitFor()
    await checkLooks(used.current(), 'Studio that asks')
    await runKind('fail')
    await graph().getByText('no more quota').waitFor()
    await checkLooks(used.current(), 'Studio with an error')
    const pages = [
      ['/deployments', 'fixtures'],
      [DEPLOYMENT, 'Host processes'],
      [`${studio}?assistant=kinds`, 'There is no thread yet'],
      [`${studio}/${asked}?assistant=kinds&mode=chat`, 'Timeline'],
    ] as const
    for (const [path, sign] of pages) {
      await open(path)
      await page.getByText(sign).first().waitFor()
      await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
      await checkLooks(used.current(), path)
    }
    await open(DEPLOYMENT)
    for (const tab of ['Runs', 'Threads', 'Assistants', 'Crons', 'Store', 'Revisions', 'Log']) {
      await page.getByRole('link', { name: tab, exact: true }).click()
      await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
      await checkLooks(used.current(), tab)
    }
  })
})
