import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import type { UsedWeir } from '../../support/servers/use-weir.ts'
import type { UsedInterface } from '../../support/servers/web-interface.ts'

interface Used {
  server: { current(): UsedWeir }
  used: { current(): UsedInterface }
  /** Sends a trace `agent` with the model call `chat`; returns the ids of both and of the project. */
  sent(): Promise<{ project: string; trace: string; call: string }>
}

/** Presses keys one after the other. */
async function press({ page }: UsedInterface, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key)
}

/**
 * Opens a page with `g` and the key of the page. On a busy machine the interface may read the second key too late, so
 * this is repeated.
 */
async function goTo(used: UsedInterface, key: string, heading: string): Promise<void> {
  await eventually(async () => {
    await press(used, 'g', key)
    await used.page.getByRole('heading', { name: heading }).waitFor({ timeout: 3000 })
  })
}

/** Moves the focus until it is on the button or link with this name. */
async function tabTo({ page }: UsedInterface, name: string): Promise<void> {
  const at = `[document.activeElement?.getAttribute('aria-label'), document.activeElement?.textContent].includes(${JSON.stringify(name)})`
  for (let step = 0; step < 200; step += 1) {
    if (await page.evaluate(at)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`${name} was not reached`)
}

/** Tasks that are done without a pointer. The browser is signed in. */
export function keyboardTests({ server, used, sent }: Used): void {
  describe('tasks by keyboard alone', () => {
    it('go to the projects, filter the runs of one, and open the first that fits', async () => {
      const { project } = await sent()
      const current = used.current()
      await current.open(`/projects/${project}?view=runs`)
      await current.page.locator('[data-run]').first().waitFor()
      await press(current, '/')
      await current.page.keyboard.type('eq(name, "chat")')
      await press(current, 'Enter')
      await current.page.getByText('name = chat').waitFor()
      await current.page.locator('[data-run]').first().waitFor()
      await press(current, 'Tab')
      await tabTo(current, 'Runs')
      await press(current, 'j', 'Enter')
      await current.page.locator('#run').getByRole('heading', { name: 'chat' }).waitFor()
      await goTo(current, 'p', 'Projects')
    })

    it('go through the list of projects by j and k, and open one', async () => {
      await sent()
      const current = used.current()
      const { page, open } = current
      const focused = () => page.evaluate<string>('document.activeElement?.textContent')
      await open('/projects')
      const names = page.getByRole('region', { name: 'Projects' }).locator('tbody td:first-child a')
      await names.first().waitFor()
      const shown = await names.allInnerTexts()
      await press(current, 'j')
      expect(await focused()).toBe(shown[0])
      await press(current, 'j', 'k')
      expect(await focused()).toBe(shown[0])
      await press(current, 'Enter')
      await page.getByRole('heading', { name: shown[0] ?? '', exact: true }).waitFor()
    })

    it('ui §5: go by j and k through the tables of usage, prices, ingest, settings and the overview', async () => {
      const { project } = await sent()
      const { json, request } = server.current()
      const price = { name: 'Kept', match_pattern: '^kept$', prompt_cost: '1', completion_cost: '1' }
      const { id: own } = await json<{ id: string }>('/api/v1/model-price-map', price)
      const limit = await request('/api/v1/usage-limits', {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          workspace_id: (await json<{ id: string }[]>('/api/v1/workspaces'))[0]?.id,
          limit_value: 1_000_000,
          mode: 'soft',
        }),
      })
      const { id: limited } = (await limit.json()) as { id: string }
      const current = used.current()
      const { page, open } = current
      /** The table that contains the focused row. */
      const focused = () =>
        page.evaluate<string | undefined>(
          `document.activeElement?.closest('tbody tr')?.closest('[role=region]')?.getAttribute('aria-label')`,
        )
      for (const [path, label] of [
        ['/usage', 'Sums of the groups'],
        ['/prices', 'Own prices'],
        ['/ingest', 'Refused records'],
        ['/settings', 'Service keys'],
        ['/settings?view=roles', 'Permissions of roles'],
        [`/projects/${project}?view=overview&by=name`, 'Figures of the groups'],
      ] as const) {
        await open(path)
        const table = page.getByRole('region', { name: label, exact: true })
        await table.locator('tbody tr').first().waitFor()
        await press(current, 'j')
        expect([path, await focused()]).toEqual([path, label])
      }
      // The rows of the folded table between the two are skipped.
      await open('/usage')
      for (const label of ['Sums of the groups', 'Monthly limits'])
        await page.getByRole('region', { name: label, exact: true }).locator('tbody tr').first().waitFor()
      const tables: (string | undefined)[] = []
      while (tables.at(-1) !== 'Monthly limits' && tables.length < 50) {
        await press(current, 'j')
        tables.push(await focused())
      }
      expect([...new Set(tables)]).toEqual(['Sums of the groups', 'Monthly limits'])
      await press(current, 'k')
      expect(await focused()).toBe('Sums of the groups')
      for (const path of [`/model-price-map/${own}`, `/usage-limits/${limited}`])
        await request(`/api/v1${path}`, { method: 'DELETE' })
    })

    it('read a trace as messages, and copy its address', async () => {
      const { trace } = await sent()
      const current = used.current()
      await current.open(`/traces/${trace}`)
      await current.page.getByRole('treegrid').waitFor()
      await press(current, 'm')
      await current.page.getByRole('region', { name: 'Messages of the trace' }).getByText('18 °C').waitFor()
      expect(current.page.url()).toContain('view=messages')
      await press(current, 'y')
      // The notice disappears after a few seconds.
      await current.page.getByText('Copied: the address of this page').waitFor()
      await eventually(async () =>
        expect(await current.page.evaluate('navigator.clipboard.readText()')).toBe(current.page.url()),
      )
    })

    it('ui §5: [ and ] say that there is no further trace, and a run that the trace lacks is named', async () => {
      const session_name = `alone-${randomUUID()}`
      const id = randomUUID()
      const time = new Date().toISOString()
      const run = {
        id,
        trace_id: id,
        name: 'only',
        run_type: 'chain',
        session_name,
        inputs: {},
        outputs: {},
        start_time: time,
        end_time: time,
      }
      const { json, request } = server.current()
      await request('/api/v1/runs/batch', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ post: [run], patch: [] }),
      })
      await eventually(async () => await json(`/api/v1/runs/${id}`))
      const current = used.current()
      const missing = randomUUID()
      await current.open(`/traces/${id}?run=${missing}`)
      await current.page.getByText(`This trace has no run ${missing}`).waitFor()
      await current.page.locator('#run').getByRole('heading', { name: 'only' }).waitFor()
      // On a busy machine the run may be visible before its keys work.
      for (const [key, step] of [
        ['[', 'older'],
        [']', 'newer'],
      ] as const)
        await eventually(async () => {
          await press(current, key)
          const notice = current.page.getByText(`There is no ${step} trace in this project.`)
          await notice.waitFor({ timeout: 3000 })
        })
    })

    it('give feedback to a run', async () => {
      const { trace } = await sent()
      const current = used.current()
      await current.open(`/traces/${trace}`)
      await current.page.locator('#run').getByText('Add feedback').waitFor()
      await press(current, 'Enter')
      await tabTo(current, 'Add feedback')
      await press(current, 'Enter')
      await current.page.keyboard.type('helpful')
      await press(current, 'Tab')
      await current.page.keyboard.type('1')
      await tabTo(current, 'Save')
      await press(current, 'Enter')
      await current.page.getByRole('button', { name: 'Edit helpful' }).waitFor()
    })

    it('find a page by name, choose a preference there, and go on by a key', async () => {
      const current = used.current()
      await current.open('/projects')
      await current.page.getByRole('heading', { name: 'Projects' }).waitFor()
      await press(current, 'Control+k')
      await current.page.getByRole('combobox').waitFor()
      await current.page.keyboard.type('settings')
      await press(current, 'Enter')
      await current.page.getByRole('heading', { name: 'Settings' }).waitFor()
      await tabTo(current, 'Display')
      await press(current, 'Enter')
      await current.page.getByLabel('In UTC').waitFor()
      await current.page.getByLabel('As the system').focus()
      await press(current, 'ArrowDown')
      expect(await current.page.evaluate(`document.documentElement.dataset.theme`)).toBe('light')
      await press(current, 'ArrowUp')
      await goTo(current, 'u', 'Usage')
    })

    it('tick two runs and compare them', async () => {
      const { project } = await sent()
      const current = used.current()
      await current.open(`/projects/${project}?view=runs`)
      await current.page.locator('[data-run]').nth(1).waitFor()
      await press(current, 'j', 'x', 'j', 'x')
      await tabTo(current, 'Compare the two')
      await press(current, 'Enter')
      await current.page.getByRole('grid', { name: 'Aligned runs' }).waitFor()
    })
  })
}
