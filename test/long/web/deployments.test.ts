import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkLooks } from '../../conformance/web/accessibility.ts'
import { DEPLOYMENT, useStudio } from '../../conformance/web/studio.ts'
import { eventually } from '../../support/eventually.ts'
import { DEPLOYMENT_NAME } from '../../support/servers/weir-pool.ts'
import { borrowWeir, type UsedWeir } from '../../support/servers/use-weir.ts'
import { HAS_BROWSER, NO_BROWSER, signIn, useInterface } from '../../support/servers/web-interface.ts'

describe.skipIf(!HAS_BROWSER)(`deployments and Studio in a browser${NO_BROWSER}`, () => {
  let weir: UsedWeir
  beforeAll(async () => {
    weir = await borrowWeir('/weir/deployment')
  })
  const used = useInterface({ current: () => weir })
  beforeAll(() => signIn(used.current().page, weir))
  afterAll(async () => {
    await weir.json(`${DEPLOYMENT}/runs/cancel`, { status: 'all' }).catch(() => undefined)
    expect(await weir.stop()).toBe(0)
  })
  const { studio, graph, runKind } = useStudio(used)

  it('a thread of traces that a deployment ran opens in Studio', async () => {
    const { page, open } = used.current()
    const thread = await runKind('sub')
    await graph().locator('[data-node="finish"][data-state="success"]').waitFor()
    await eventually(async () => {
      const [project] = await weir.json<{ id: string }[]>(`/api/v1/sessions?name=${DEPLOYMENT_NAME}`)
      expect(project).toBeDefined()
      await open(`/threads/${thread}?project=${project?.id}`)
    })
    await page.getByRole('link', { name: 'Open in Studio' }).click()
    await page.waitForURL(new RegExp(`${DEPLOYMENT}/studio/${thread}`))
    await graph().locator('[data-node="finish"]').waitFor()
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
