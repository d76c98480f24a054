import { describe, expect, it } from 'vitest'
import type { UsedInterface } from '../../support/servers/web-interface.ts'

interface Used {
  used: { current(): UsedInterface }
  /** Sends a trace `agent` with the model call `chat`; returns the ids of both and of the project. */
  sent(): Promise<{ project: string; trace: string; call: string }>
}

/** Presses keys one after the other. */
async function press({ page }: UsedInterface, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key)
}

/** Moves the focus on until it is at a button or link of this name. */
async function tabTo({ page }: UsedInterface, name: string): Promise<void> {
  const at = `[document.activeElement?.getAttribute('aria-label'), document.activeElement?.textContent].includes(${JSON.stringify(name)})`
  for (let step = 0; step < 200; step += 1) {
    if (await page.evaluate(at)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`${name} was not reached`)
}

/** Tasks that are done without a pointer. The browser is signed in. */
export function keyboardTests({ used, sent }: Used): void {
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
      await press(current, 'g', 'p')
      await current.page.getByRole('heading', { name: 'Projects' }).waitFor()
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

    it('read a trace as messages, and copy its address', async () => {
      const { trace } = await sent()
      const current = used.current()
      await current.open(`/traces/${trace}`)
      await current.page.getByRole('treegrid').waitFor()
      await press(current, 'm')
      await current.page.getByRole('region', { name: 'Messages of the trace' }).getByText('18 °C').waitFor()
      await press(current, 'y')
      const copied = await current.page.evaluate<string>('navigator.clipboard.readText()')
      expect(copied).toBe(current.page.url())
      expect(copied).toContain('view=messages')
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
      await press(current, 'ArrowUp', 'g', 'u')
      await current.page.getByRole('heading', { name: 'Usage' }).waitFor()
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
