import { describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { HAS_BROWSER, NO_BROWSER } from '../../support/servers/web-interface.ts'
import { DEPLOYMENT_NAME } from '../../support/servers/weir-pool.ts'
import { DEPLOYMENT, useDeploymentPages } from './studio.ts'
import { firstInShort } from '../../support/length.ts'

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
