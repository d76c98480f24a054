import type { BrowserContext, FrameLocator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually } from '../../../support/eventually.ts'
import { inLong } from '../../../support/length.ts'
import type { WeirProcess } from '../../../support/servers/server.ts'
import { buildInterface, launchBrowser, signIn } from '../../../support/servers/web-interface.ts'

/** Name of the deployment of test/fixtures/projects/cards. */
export const CARDS = 'cards'

/** What Studio does with UI components, of the deployment CARDS on a server that `start` starts. */
export function componentTests(start: () => Promise<WeirProcess>): void {
  let weir: WeirProcess
  let context: BrowserContext
  let page: Page

  beforeAll(async () => {
    buildInterface()
    weir = await start()
    const browser = await launchBrowser()
    context = await browser.newContext()
    page = await context.newPage()
    await signIn(page, weir)
  })
  afterAll(async () => {
    await context?.browser()?.close()
    expect(await weir?.stop()).toBe(0)
  })

  /** Runs the graph on a new thread, and opens its chat; returns the frame of the component. */
  const show = async (name: string): Promise<FrameLocator> => {
    const api = `/deployments/${CARDS}`
    const { thread_id } = await weir.json<{ thread_id: string }>(`${api}/threads`, {})
    const run = { assistant_id: 'cards', input: { show: name } }
    await weir.json(`${api}/threads/${thread_id}/runs/wait`, run)
    await page.goto(`${weir.url}/app/deployments/${CARDS}/studio/${thread_id}?mode=chat`)
    return page.getByRole('region', { name: 'Chat' }).frameLocator(`iframe[title="Component ${name}"]`)
  }
  const height = (): Promise<number> =>
    page
      .getByRole('region', { name: 'Chat' })
      .locator('iframe')
      .boundingBox()
      .then((box) => box?.height ?? 0)
  const asked = () => page.getByRole('group', { name: 'Run that the component asks for' })

  it('shows a component with its style, what it was sent, and its message; a run starts when the user agrees', async () => {
    const card = await show('card')
    await card.getByText('Card of run 1').waitFor()
    await card.getByText('1 runs, message reply-0').waitFor()
    const colour = card.getByText('Card of run 1').evaluate((element) => {
      const { getComputedStyle } = globalThis as unknown as {
        getComputedStyle(of: unknown): { color: string }
      }
      return getComputedStyle(element).color
    })
    expect(await colour).toBe('rgb(102, 51, 153)')
    const state = page.getByRole('region', { name: 'State' })
    await state.locator('iframe').scrollIntoViewIfNeeded()
    await state.frameLocator('iframe').getByText('Card of run 1').waitFor()
    await card.getByRole('button', { name: 'Once more' }).click()
    await asked().getByRole('button', { name: 'Refuse' }).click()
    await asked().waitFor({ state: 'detached' })
    await card.getByRole('button', { name: 'Once more' }).click()
    await asked().getByRole('button', { name: 'Start the run' }).click()
    const frames = page.getByRole('region', { name: 'Chat' }).locator('iframe')
    await frames.nth(1).contentFrame().getByText('Card of run 2').waitFor()
    await frames.first().contentFrame().getByText('2 runs, message reply-0').waitFor()
  })

  it('D-64: a component reaches neither the interface, a server, cookies nor storage', async () => {
    const spy = await show('spy')
    const found = await eventually(async () => {
      const text = await spy.locator('output').textContent()
      expect(text).toContain('window')
      return JSON.parse(text ?? '') as Record<string, string>
    })
    expect(Object.entries(found).filter(([, result]) => result !== 'refused')).toEqual([])
    expect(Object.keys(found)).toHaveLength(12)
    expect(page.url()).toContain('/app/deployments/')
    expect(context.pages()).toHaveLength(1)
  })

  it('D-64: a component cannot take its frame to another page', async () => {
    await show('leaver')
    // The browser's page about a refused address takes the place of the component.
    await eventually(async () =>
      expect(page.frames().map((one) => one.url())).toContain('chrome-error://chromewebdata/'),
    )
    expect(page.frames().filter((one) => one.url().endsWith('/ok'))).toEqual([])
  })

  inLong(() => {
    it('a component that computes without end does not stop the page', async () => {
      await show('spin')
      await eventually(async () => expect(page.frames().length).toBeGreaterThan(1))
      for (const text of ['one', 'two']) {
        const box = page.getByRole('textbox', { name: 'Message', exact: true })
        await box.fill(text)
        expect(await box.inputValue()).toBe(text)
      }
    })

    it('limits the height of a component', async () => {
      const tall = await show('tall')
      await tall.getByText('tall').waitFor()
      await eventually(async () => expect(await height()).toBe(480))
    })
  })

  it('ends a component that floods the page with messages, and works on', async () => {
    await show('flood')
    await page.getByText('The component was ended: it sent too many messages.').first().waitFor()
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('still here')
    await page.getByRole('region', { name: 'Chat' }).locator('iframe').waitFor({ state: 'detached' })
  })

  inLong(() => {
    it('reads only messages of a component’s shape, and nothing of a run but its input', async () => {
      await show('liar')
      const chat = page.getByRole('region', { name: 'Chat' })
      const question = chat.getByRole('group', { name: 'Run that the component asks for' })
      await question.getByText('first').waitFor()
      expect(await question.textContent()).not.toMatch(/second|checkpoint|configurable/)
      expect(await height()).toBeLessThan(400)
      await question.getByRole('button', { name: 'Start the run' }).click()
      await chat.getByText('Reply 2').waitFor()
      const values = await weir.json<{ values: { show: string } }>(
        `/deployments/${CARDS}/threads/${new URL(page.url()).pathname.split('/').at(-1)}/state`,
      )
      expect(values.values.show).toBe('first')
    })

    it('says why a component is not shown', async () => {
      await show('faulty')
      await page.getByText('The component is faulty.').first().waitFor()
      await show('unknown')
      await page.getByText('There is no UI component "unknown".').first().waitFor()
    })
  })
}
