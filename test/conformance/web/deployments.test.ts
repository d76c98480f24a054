import { describe, expect, it } from 'vitest'
import { HAS_BROWSER, NO_BROWSER } from '../../support/servers/web-interface.ts'
import { DEPLOYMENT_NAME } from '../../support/servers/weir-pool.ts'
import { DEPLOYMENT, useDeploymentPages } from './studio.ts'
import { firstInShort } from '../../support/length.ts'

describe.skipIf(!HAS_BROWSER)(`deployments in a browser${NO_BROWSER}`, () => {
  const { server, used } = useDeploymentPages()

  it('N13: lists the deployments, and shows graphs, runs of all threads and what a bulk cancel did', async () => {
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
    for (const tab of firstInShort(['Threads', 'Assistants', 'Crons', 'Store', 'Revisions', 'Log'], 2)) {
      await page.getByRole('link', { name: tab, exact: true }).click()
      await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' })
      expect([tab, await broken()]).toEqual([tab, []])
    }
  })
})
