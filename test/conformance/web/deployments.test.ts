import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { borrowWeir, type UsedWeir } from '../../support/servers/use-weir.ts'
import { HAS_BROWSER, NO_BROWSER, signIn, useInterface } from '../../support/servers/web-interface.ts'
import { DEPLOYMENT_NAME } from '../../support/servers/weir-pool.ts'
import { DEPLOYMENT } from './studio.ts'

describe.skipIf(!HAS_BROWSER)(`deployments in a browser${NO_BROWSER}`, () => {
  let weir: UsedWeir
  beforeAll(async () => {
    weir = await borrowWeir('/weir/deployment')
  })
  const used = useInterface({ current: () => weir })
  beforeAll(() => signIn(used.current().page, weir))
  afterAll(async () => {
    // The next user of the server must find no active runs.
    await weir.json(`${DEPLOYMENT}/runs/cancel?wait=true`, { status: 'all' }).catch(() => undefined)
    expect(await weir.stop()).toBe(0)
  })

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
    const { run_id } = await weir.json<{ run_id: string }>(`${DEPLOYMENT}/runs`, {
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
    for (const tab of ['Threads', 'Assistants', 'Crons', 'Store', 'Revisions', 'Log']) {
      await page.getByRole('link', { name: tab, exact: true }).click()
      await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' })
      expect([tab, await broken()]).toEqual([tab, []])
    }
  })
})
