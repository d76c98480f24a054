import { describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { sendSamples, SAMPLE_PROJECT } from '../../support/servers/sample-project.ts'
import type { UsedWeir } from '../../support/servers/use-weir.ts'
import type { UsedInterface } from '../../support/servers/web-interface.ts'

interface Used {
  server: { current(): UsedWeir }
  used: { current(): UsedInterface }
}

const TRACES = 24

/** The overview of a project, and the timeline over its list. The browser is signed in. */
export function overviewTests({ server, used }: Used): void {
  let path: string | undefined

  /** Sends samples once; returns the path of their overview. */
  async function sent(): Promise<string> {
    if (path !== undefined) return path
    const weir = server.current()
    await sendSamples(weir, Date.now(), TRACES)
    const [project] = await weir.json<{ id: string }[]>(`/api/v1/sessions?name=${SAMPLE_PROJECT}`)
    path = `/projects/${project?.id}?view=overview`
    return path
  }

  describe('the overview', () => {
    /** Follows a figure to the list behind it. The list must have as many rows as the figure says. */
    async function opensItsRows(address: string, panel: string, count: number): Promise<void> {
      const { page, open } = used.current()
      await open(address)
      const section = page.getByRole('region', { name: panel, exact: true })
      await section.getByText('Every figure of the chart').click()
      const cells = section.getByRole('cell').getByRole('link')
      await cells.first().waitFor()
      const figures = await cells.allInnerTexts()
      const place = figures.findIndex((text) => Number(text) > 0)
      await cells.nth(place).click()
      const rows = page.locator('[data-run]')
      await eventually(async () =>
        expect([panel, await rows.count()]).toEqual([panel, Number(figures[place])]),
      )
      expect(figures.reduce((sum, text) => sum + Number(text), 0)).toBe(count)
    }

    it('has the figures of the API, each of which opens exactly its rows', async () => {
      const address = await sent()
      const project = /projects\/([^?]+)/.exec(address)?.[1]
      const answer = await server.current().request('/api/v1/runs/stats', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ session: [project], is_root: true }),
      })
      const { run_count } = (await answer.json()) as { run_count: number }
      expect(run_count).toBeGreaterThan(1)
      await Promise.all([
        used.current().page.waitForRequest(/\/live\?topic=project/),
        opensItsRows(address, 'Traces', run_count),
      ])
      await opensItsRows(`${address}&by=name`, 'Traces', run_count)
    })

    it('an alert on a chart fires there and in the list of alerts, where it is switched off and deleted', async () => {
      const { page, open, broken } = used.current()
      await open(`${await sent()}&t=7d`)
      await page.getByRole('button', { name: 'Add an alert on Traces' }).click()
      const form = page.getByRole('form', { name: 'New alert' })
      await form.getByLabel('Threshold').fill('0')
      await form.getByLabel('Window').selectOption('1440')
      expect(await broken()).toEqual([])
      await form.getByRole('button', { name: 'Save' }).click()
      const mark = page.getByRole('link', { name: 'Firing: Number of traces' })
      await mark.waitFor()
      expect(await broken()).toEqual([])
      await mark.click()
      const row = page.getByRole('row', { name: /^Number of traces/ })
      await row.getByText('firing').waitFor()
      await row.getByText('travel-agent').waitFor()
      await row.getByText('Number of traces above 0 in 24 h').waitFor()
      expect(await broken()).toEqual([])
      await row.getByRole('button', { name: 'Switch off Number of traces' }).click()
      await row.getByText('off', { exact: true }).waitFor()
      await row.getByRole('button', { name: 'Delete Number of traces' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete it' }).click()
      await page.getByText('There is no alert yet.').waitFor()
    })

    it('an alert is called after its chart, its figure and its group, until somebody enters a name', async () => {
      const { page, open, broken } = used.current()
      await open(`${await sent()}&of=llm&by=model`)
      const form = page.getByRole('form', { name: 'New alert' })
      const name = form.getByLabel('Name')
      for (const [chart, called] of [
        ['Cost', 'Known cost of model calls'],
        ['Latency', 'Latency p95 of model calls'],
      ] as const) {
        await page.getByRole('button', { name: `Add an alert on ${chart}` }).click()
        await name.waitFor()
        expect(await name.inputValue()).toBe(called)
        if (chart === 'Cost') await form.getByRole('button', { name: 'Cancel' }).click()
      }
      await form.getByLabel('Figure').selectOption('latency_p99')
      await form.getByLabel('Group').selectOption({ label: 'gpt-4.1-mini' })
      expect(await name.inputValue()).toBe('Latency p99 of model calls, gpt-4.1-mini')
      expect(await broken()).toEqual([])
      await name.fill('Slow')
      await form.getByLabel('Group').selectOption({ label: 'all of them' })
      expect(await name.inputValue()).toBe('Slow')
      await form.getByRole('button', { name: 'Cancel' }).click()
      await form.waitFor({ state: 'detached' })
    })

    it('opens the runs that took as long as a percentile or longer', async () => {
      const { page, open } = used.current()
      await open(`${await sent()}&of=llm&by=model`)
      const table = page.getByRole('region', { name: 'Figures of the groups' })
      const row = table.getByRole('row').nth(1)
      const count = Number(await row.getByRole('link').first().innerText())
      await row.getByRole('link').nth(2).click()
      const rows = page.locator('[data-run]')
      await rows.first().waitFor()
      await page.getByText(/^latency ≥/).waitFor()
      await eventually(async () => expect(await rows.count()).toBeLessThan(count))
      expect(await rows.count()).toBeGreaterThanOrEqual(Math.ceil(count / 2))
    })

    it('can be read by keyboard: arrows go through time, Enter opens the rows of a bucket', async () => {
      const { page, open } = used.current()
      await open(await sent())
      const section = page.getByRole('region', { name: 'Traces', exact: true })
      await section.locator('figure').focus()
      await page.keyboard.press('Home')
      await section.getByRole('listitem').getByRole('link').first().waitFor()
      await page.keyboard.press('Enter')
      await page.locator('[data-run]').first().waitFor()
      expect(new URL(page.url()).searchParams.get('from')).not.toBeNull()
    })

    it('selects a range by dragging over a chart, and by keyboard with Shift and arrows', async () => {
      const { page, open } = used.current()
      const figure = page.getByRole('region', { name: 'Traces', exact: true }).locator('figure')
      const rangeOf = (): (string | null)[] => {
        const { searchParams } = new URL(page.url())
        return [searchParams.get('from'), searchParams.get('to')]
      }
      // The charts move while the page loads, so a drag or a key may have no effect. Each try opens the page again.
      const untilSelected = (gesture: () => Promise<void>): Promise<void> =>
        eventually(async () => {
          await open(await sent())
          await figure.locator('rect[data-series]').first().waitFor()
          await gesture()
          const isSet = ({ searchParams }: URL): boolean => searchParams.has('from') && searchParams.has('to')
          await page.waitForURL(isSet, { timeout: 3000 })
        })
      await untilSelected(async () => {
        await figure.focus()
        await page.keyboard.press('Home')
        for (const _ of Array(3)) await page.keyboard.press('Shift+ArrowRight')
        await page.keyboard.press('Enter')
      })
      const byKeys = rangeOf().map((time) => Date.parse(time ?? ''))
      expect(byKeys[1]).toBeGreaterThan(byKeys[0] ?? 0)
      await untilSelected(async () => {
        // The drag begins on a bar, because bars cover most of a busy chart.
        const bar = await figure.locator('rect[data-series]').last().boundingBox()
        const box = await figure.locator('svg').boundingBox()
        if (bar === null || box === null) throw new Error('the chart has no place')
        const y = bar.y + bar.height / 2
        await page.mouse.move(bar.x + bar.width / 2, y)
        await page.mouse.down()
        await page.mouse.move(box.x + 2, y, { steps: 4 })
        await page.mouse.up()
      })
      const byMouse = rangeOf().map((time) => Date.parse(time ?? ''))
      expect(byMouse[1]).toBeGreaterThan(byMouse[0] ?? 0)
      expect(page.url()).toContain('view=overview')
    })

    it('shows a range between two times', async () => {
      const { page, open } = used.current()
      await open(await sent())
      await page.getByLabel('Range', { exact: true }).selectOption('custom')
      await page.getByLabel('From', { exact: true }).fill('2020-01-01T00:00:00')
      await page.getByLabel('To', { exact: true }).fill('2020-01-02T00:00:00')
      await page.getByRole('button', { name: 'Show', exact: true }).click()
      await page.getByText('Nothing fits the filter in this range').waitFor()
      expect(new URL(page.url()).searchParams.get('from')).toMatch(/^2019-12-31|^2020-01-01/)
    })
  })

  describe('the timeline of the list', () => {
    const timeline = () => used.current().page.getByRole('region', { name: 'Traces in time' })
    const rows = () => used.current().page.locator('[data-run]')

    it('has a bar for each part of the range; the list of a selection has as many rows as its bars say', async () => {
      const { page, open } = used.current()
      await open((await sent()).replace('?view=overview', ''))
      const marks = timeline().locator('rect[data-series] title')
      await eventually(async () => expect(await marks.count()).toBeGreaterThan(5))
      const counts = new Map<string, number>()
      for (const title of await marks.allTextContents()) {
        const [, bar = '', count] = /^(.*): (\d+)/.exec(title) ?? []
        counts.set(bar, Number(count))
      }
      const all = [...counts.values()].reduce((sum, count) => sum + count, 0)
      await eventually(async () => expect(await rows().count()).toBe(all))
      await timeline().locator('figure').focus()
      await page.keyboard.press('Home')
      for (const _ of Array(19)) await page.keyboard.press('Shift+ArrowRight')
      await timeline().locator('p').getByText(/: \d+/).waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(({ searchParams }) => searchParams.has('from') && searchParams.has('to'))
      await eventually(async () => expect(await rows().count()).toBeLessThan(all))
      const shown = await rows().count()
      await eventually(async () => {
        const titles = await marks.allTextContents()
        const bars = new Map(titles.map((title) => [title, Number(/: (\d+)/.exec(title)?.[1])]))
        expect([...bars.values()].reduce((sum, count) => sum + count, 0)).toBe(shown)
      })
      expect(shown).toBeGreaterThan(0)
    })

    it('stays hidden on later visits', async () => {
      const { page, open } = used.current()
      await open((await sent()).replace('?view=overview', ''))
      const button = page.getByRole('button', { name: 'Timeline', exact: true })
      await button.click()
      await timeline().waitFor({ state: 'detached' })
      await page.reload()
      await rows().first().waitFor()
      expect(await timeline().count()).toBe(0)
      await button.click()
      await timeline().waitFor()
    })
  })
}
