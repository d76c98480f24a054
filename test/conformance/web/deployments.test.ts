import { describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { HAS_BROWSER, NO_BROWSER } from '../../support/servers/web-interface.ts'
import { DEPLOYMENT_NAME } from '../../support/servers/weir-pool.ts'
import { DEPLOYMENT, useDeploymentPages, useStudio } from './studio.ts'
import { firstInShort, inLong } from '../../support/length.ts'

/** The first list of tools waits until the compiler has read the types of every graph. */
const TYPES_MS = 60_000

describe.skipIf(!HAS_BROWSER)(`deployments in a browser${NO_BROWSER}`, () => {
  const { server, used } = useDeploymentPages()

  it(
    'N13: lists the deployments, and shows graphs, runs of all threads and what a bulk cancel did',
    async () => {
      const { page, open, broken } = used.current()
      await open('/deployments')
      await page.getByRole('link', { name: DEPLOYMENT_NAME, exact: true }).waitFor()
      expect(await broken()).toEqual([])
      await page.getByRole('link', { name: DEPLOYMENT_NAME, exact: true }).click()
      const drawing = page.getByRole('img', { name: 'Graph kinds' })
      await drawing.getByText('ask_one').waitFor()
      await drawing.getByText('END').first().waitFor()
      expect(await broken()).toEqual([])
      const { run_id } = await server.current().json<{ run_id: string }>(`${DEPLOYMENT}/runs`, {
        assistant_id: 'kinds',
        input: { kind: 'slow' },
      })
      await page.getByRole('link', { name: 'Runs', exact: true }).click()
      await page.getByText(run_id).waitFor()
      await page.getByRole('button', { name: 'Cancel many' }).click()
      await page.getByRole('button', { name: 'Cancel them' }).click()
      const outcomes = page.getByRole('region', { name: 'Outcomes' })
      await outcomes.getByText(run_id).waitFor()
      expect(await broken()).toEqual([])
      await page.keyboard.press('Escape')
      await page.getByRole('link', { name: 'Agents', exact: true }).click()
      await page.getByRole('button', { name: 'Codex' }).click()
      await page.getByText(`[mcp_servers.${DEPLOYMENT_NAME}]`).waitFor()
      await page.getByRole('button', { name: 'Copy the card of kinds' }).waitFor()
      const tool = page.getByRole('row', { name: 'Interrupts, tools, subgraphs, sends.' })
      await tool.waitFor({ timeout: TYPES_MS })
      expect(await broken()).toEqual([])
      for (const tab of firstInShort(['Threads', 'Assistants', 'Crons', 'Store', 'Revisions', 'Log'], 2)) {
        await page.getByRole('link', { name: tab, exact: true }).click()
        await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' })
        expect([tab, await broken()]).toEqual([tab, []])
      }
    },
    2 * TYPES_MS,
  )

  inLong(() => {
    it('lists runs and threads with what was asked, and what a thread waits for', async () => {
      const { json } = server.current()
      const thread = async (): Promise<string> =>
        (await json<{ thread_id: string }>(`${DEPLOYMENT}/threads`, { metadata: { customer: 'c-17' } }))
          .thread_id
      const [asked, told] = [await thread(), await thread()]
      const run = (id: string, input: object) =>
        json(`${DEPLOYMENT}/threads/${id}/runs/wait`, { assistant_id: 'kinds', input })
      await run(asked, { kind: 'ask' })
      const said = [{ role: 'user', content: 'Where is **my box**?' }]
      await run(told, { kind: 'tool', messages: said })
      const { page, open, broken } = used.current()
      await open(`${DEPLOYMENT}?view=threads`)
      const row = page.getByRole('row').filter({ hasText: told })
      await row.getByRole('link', { name: 'Where is my box?' }).waitFor()
      await row.getByText('customer c-17').waitFor()
      const search = page.getByLabel('Threads that contain')
      await eventually(async () => {
        // The traces of a run are stored after it.
        await search.fill('')
        await search.fill('box my')
        await page.getByRole('row').filter({ hasText: asked }).waitFor({ state: 'detached', timeout: 5000 })
        await row.waitFor({ timeout: 5000 })
      })
      await search.fill('')
      await page.getByRole('row').filter({ hasText: asked }).waitFor()
      expect(await broken()).toEqual([])
      await page.getByLabel('State').selectOption('interrupted')
      await row.waitFor({ state: 'detached' })
      const waiting = page.getByRole('row').filter({ hasText: asked })
      await waiting.getByText('go on?').waitFor()
      await waiting.getByText('waits for an answer').waitFor()
      await page.getByRole('link', { name: 'Runs', exact: true }).click()
      const one = page.getByRole('row').filter({ hasText: 'Where is my box?' }).first()
      await one.getByText('kinds').waitFor()
      await one.getByText(/\d (?:ms|s)$/).waitFor()
      await page.getByRole('columnheader', { name: 'Cost' }).waitFor()
      expect(await broken()).toEqual([])
      await one.getByRole('link', { name: 'Where is my box?' }).click()
      await page.waitForURL(new RegExp(`${DEPLOYMENT}/studio/${told}`))
    })

    it('finding 10: says that the newest revision failed, and does not offer to roll back to it', async () => {
      const { page, open, broken } = used.current()
      const id = '00000000-0000-4000-8000-000000000003'
      const failed = {
        id,
        status: 'DEPLOY_FAILED',
        created_at: new Date().toISOString(),
        weir: {
          number: 3,
          is_active: false,
          artifact_sha256: 'a'.repeat(64),
          timings: {},
          error: { message: "Cannot find package 'no-such-package'" },
          rolled_back_from: null,
          created_by: 'ada',
        },
      }
      interface Listed {
        latest_revision_id: string
        weir: { managed_by: string }
      }
      // A deployment whose newest revision failed, without the minutes that building one takes.
      await page.route(/\/api\/v2\/deployments(\?|$)/, async (route) => {
        const answer = await route.fetch()
        const json = (await answer.json()) as { resources: Listed[] }
        for (const one of json.resources) {
          one.latest_revision_id = id
          one.weir.managed_by = 'control_plane'
        }
        await route.fulfill({ response: answer, json })
      })
      await page.route(/\/revisions\/00000000/, (route) => route.fulfill({ json: failed }))
      await page.route(/\/revisions(\?|$)/, (route) =>
        route.fulfill({ json: { resources: [failed], offset: 0, has_more: false } }),
      )
      try {
        await open('/deployments')
        const mark = page.getByRole('link', { name: 'revision 3: deploy failed' })
        await mark.first().waitFor()
        expect(await broken()).toEqual([])
        await mark.first().click()
        await page.getByText('no-such-package').first().waitFor()
        expect(await page.getByRole('button', { name: /Roll back to/ }).count()).toBe(0)
      } finally {
        await page.unrouteAll()
      }
    })

    it('has the main facts of a deployment in a narrow window, and the others on a click', async () => {
      const { page, open, broken } = used.current()
      await page.setViewportSize({ width: 390, height: 844 })
      try {
        await open(DEPLOYMENT)
        await page.getByText('Host processes').waitFor()
        expect(await page.getByText('Isolation').isVisible()).toBe(false)
        await page.getByRole('button', { name: 'All facts' }).click()
        await page.getByText('Isolation').waitFor()
        expect(await broken()).toEqual([])
      } finally {
        await page.setViewportSize({ width: 1440, height: 900 })
      }
    })

    it('Studio has a clock at a running node, a frame with its name around a subgraph, and the name of what asks', async () => {
      const { page, broken, moving } = used.current()
      const { graph, steps, runKind } = useStudio(used)
      await runKind('slow')
      const node = graph().locator('[data-node="respond"]')
      await node.getByText(/running [1-9]\d* ms/).waitFor()
      await node.getByText(/running [1-9][.\d]* s/).waitFor()
      const frame = graph().locator('[data-subgraph="nested"]')
      await frame.getByText('nested').waitFor()
      const [outer, inner] = [
        await frame.boundingBox(),
        await graph().locator('[data-node="nested:first"]').boundingBox(),
      ]
      expect(inner?.y).toBeGreaterThan(outer?.y ?? 0)
      expect(await moving()).toEqual([])
      expect(await broken()).toEqual([])
      await page.getByRole('region', { name: 'Runs' }).getByRole('button', { name: 'Roll back' }).click()
      await runKind('ask')
      await steps().first().getByText('respond asks').waitFor()
      await runKind('fail')
      await steps().first().getByText('respond failed').waitFor()
    })

    it('Studio edits the values of a state in place, opens another thread from its list, and chats with one field', async () => {
      const { json } = server.current()
      const { page, open, broken } = used.current()
      const { steps, runKind, studio } = useStudio(used)
      const { thread_id } = await json<{ thread_id: string }>(`${DEPLOYMENT}/threads`, {})
      const input = { kind: 'tool', messages: [{ role: 'user', content: 'Which box is mine?' }] }
      await json(`${DEPLOYMENT}/threads/${thread_id}/runs/wait`, { assistant_id: 'kinds', input })
      const thread = await runKind('custom')
      type Read = { values: { kind: string; log: string[] }; next: string[] }
      const stateOf = (): Promise<Read> => json<Read>(`${DEPLOYMENT}/threads/${thread}/state`)
      await steps().filter({ hasText: 'end' }).first().waitFor()
      const { log } = (await stateOf()).values
      expect(log.length).toBeGreaterThan(0)
      await page.getByRole('button', { name: 'Edit the state' }).click()
      const form = page.getByRole('form', { name: 'Edit the state' })
      const kind = form.getByLabel('Value of kind')
      await kind.waitFor()
      expect(await kind.inputValue()).toBe('custom')
      await kind.fill('edited in place')
      expect(await broken()).toEqual([])
      await form.getByRole('button', { name: 'Write as a new branch' }).click()
      await form.waitFor({ state: 'detached' })
      await eventually(async () =>
        expect((await stateOf()).values).toMatchObject({ kind: 'edited in place', log }),
      )
      await page.getByRole('button', { name: 'Threads' }).click()
      const list = page.getByRole('list', { name: 'Threads' })
      await list.getByText('Which box is mine?').waitFor()
      expect(await broken()).toEqual([])
      await list.getByText('Which box is mine?').click()
      await page.waitForURL(new RegExp(`${studio}/${thread_id}`))
      await list.waitFor({ state: 'detached' })
      await open(`${studio}/${thread_id}?assistant=kinds&mode=chat`)
      await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
      const inputs = page.getByRole('form', { name: 'Input' })
      expect(await inputs.isVisible()).toBe(false)
      await page.getByText('Other inputs and settings of a run').click()
      await inputs.waitFor()
      expect(await broken()).toEqual([])
    })
  })

  it('USAGE-20: the usage page counts the runs and nodes of a deployment as the API does', async () => {
    const run = { assistant_id: 'kinds', input: { kind: 'sub' } }
    await server.current().json(`${DEPLOYMENT}/runs/wait`, run)
    const { page, open, broken } = used.current()
    await open('/usage?t=12h')
    for (const [label, property] of [
      ['Runs of deployments', 'agent_runs'],
      ['Nodes of deployments', 'nodes_executed'],
    ] as const) {
      await page.getByLabel('Measure').selectOption(label)
      await page.getByLabel('Group', { exact: true }).selectOption('By deployment')
      const row = page.getByRole('row', { name: DEPLOYMENT_NAME }).first()
      await row.waitFor()
      const csv = (await page.getByRole('link', { name: 'CSV' }).getAttribute('href')) ?? ''
      const report = csv.replace('/export', '')
      const { usage } = await server
        .current()
        .json<{ usage: ({ dimensions: { project_name: string } } & Record<typeof property, number>)[] }>(
          report,
        )
      const sum = usage
        .filter(({ dimensions }) => dimensions.project_name === DEPLOYMENT_NAME)
        .reduce((all, line) => all + line[property], 0)
      expect(sum).toBeGreaterThan(0)
      await eventually(async () =>
        expect(await row.getByRole('cell').first().innerText()).toBe(sum.toLocaleString('en-US')),
      )
      expect(await row.getByRole('link').count()).toBe(0)
    }
    expect(await broken()).toEqual([])
  })
})
