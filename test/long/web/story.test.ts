import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type MeteredVendor, startMeteredVendor } from '../../instrumentations/vendor/metered-vendor.ts'
import { eventually } from '../../support/eventually.ts'
import { withoutPython } from '../../support/python.ts'
import { startWeir, type WeirProcess } from '../../support/servers/server.ts'
import { NO_BROWSER, signIn, useInterface } from '../../support/servers/web-interface.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Chromium goes through many pages.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const NAME = 'story'
const DEPLOYMENT = `/deployments/${NAME}`

interface State {
  values: { text?: string; verdict?: unknown; topic?: string }
  next: string[]
}

/** The same graph in both languages, and the reason why a language is skipped. */
const LANGUAGES = [
  { language: 'TypeScript', folder: 'story-graphs', without: NO_BROWSER },
  { language: 'Python', folder: 'python-story', without: NO_BROWSER || withoutPython() },
]

for (const { language, folder, without } of LANGUAGES)
  describe.skipIf(without !== '')(
    `from a deployment in ${language} to the bill, in a browser${without}`,
    () => tellStory(`test/fixtures/${folder}/langgraph.json`),
  )

/** The tests with the graph of a langgraph.json. */
function tellStory(GRAPHS: string): void {
  let weir: WeirProcess
  let vendor: MeteredVendor
  beforeAll(async () => {
    const env = { GRAPHS, DEPLOYMENT_NAME: NAME }
    ;[weir, vendor] = await Promise.all([startWeir(env), startMeteredVendor()])
  })
  const used = useInterface({ current: () => weir })
  afterAll(async () => {
    await vendor.stop()
    expect(await weir.stop()).toBe(0)
  })

  const region = (name: string): Locator => used.current().page.getByRole('region', { name })
  const node = (name: string, state: string): Locator =>
    region('Graph').locator(`[data-node="${name}"][data-state="${state}"]`)
  const steps = (): Locator => region('Timeline').getByRole('listitem')
  const stateOf = (thread: string): Promise<State> => weir.json(`${DEPLOYMENT}/threads/${thread}/state`)

  async function answer(text: string): Promise<void> {
    const form = used.current().page.getByRole('form', { name: 'Questions' })
    await form.getByText('Is the plan good?').waitFor()
    await form.getByLabel('Answer to review').fill(text)
    await form.getByRole('button', { name: 'Answer and go on' }).click()
    await form.waitFor({ state: 'detached' })
  }

  async function run(topic: string): Promise<void> {
    const { page } = used.current()
    await page.getByRole('textbox', { name: 'topic' }).fill(topic)
    await page.getByRole('button', { name: 'Run', exact: true }).click()
  }

  it('runs, answers, edits, forks, rolls back, reads the trace, tries another prompt, and sees its cost in usage', async () => {
    const { page } = used.current()
    await signIn(page, weir)

    // Open an example deployment, run, see nodes light up.
    await page.getByRole('link', { name: 'Deployments' }).click()
    await page.getByRole('link', { name: NAME, exact: true }).click()
    await page.getByRole('link', { name: 'Open Studio' }).first().click()
    await run('rivers')
    await node('draft', 'success').waitFor()
    await node('review', 'interrupted').waitFor()
    await page.waitForURL(/studio\/[0-9a-f-]{36}/)
    const thread = new URL(page.url()).pathname.split('/').at(-1) ?? ''

    // Answer an interrupt.
    await answer('yes, write it')
    await node('write', 'success').waitFor()
    await eventually(async () => expect((await stateOf(thread)).values.text).toBe('rivers: yes, write it'))

    // Edit the state two steps back, and go on from the fork.
    await steps().filter({ hasText: 'end' }).first().waitFor()
    const before = await steps().count()
    await steps().nth(2).getByRole('button').click()
    await page.getByRole('button', { name: 'Edit the state' }).click()
    const edit = page.getByRole('form', { name: 'Edit the state' })
    await edit.getByLabel('Values to write').fill('{"topic": "lakes"}')
    await edit.getByRole('button', { name: 'Write as a new branch' }).click()
    await region('State').getByText('lakes').first().waitFor()
    await eventually(async () => expect(await steps().count()).toBe(before + 1))
    await page.getByRole('button', { name: 'Run from here' }).click()
    await answer('better')
    await eventually(async () => expect((await stateOf(thread)).values.text).toBe('lakes: better'))
    await steps().locator('[data-lane="1"]').first().waitFor()

    // Cancel with a rollback: nothing of the run that was answered is left.
    await eventually(async () => expect((await stateOf(thread)).next).toEqual([]))
    await eventually(async () => expect(await steps().filter({ hasText: 'end' }).count()).toBe(2))
    const ended = await steps().count()
    await run('slow')
    await eventually(async () => expect(await steps().count()).toBeGreaterThan(ended + 1))
    await steps().first().getByText('asks').waitFor()
    const kept = await steps().count()
    await answer('go')
    await node('write', 'running').waitFor()
    await region('Runs').getByRole('button', { name: 'Roll back' }).first().click()
    await eventually(async () => expect((await stateOf(thread)).values.verdict).not.toBe('go'))
    await eventually(async () => expect(await steps().count()).toBe(kept))

    // Open the trace of the run that made the fork, and its model call in the playground.
    await steps().filter({ hasText: 'draft' }).first().getByRole('button').click()
    await region('State').getByRole('link', { name: 'Trace' }).click()
    await page.getByRole('treegrid').getByRole('row', { name: 'PricedModel' }).click()
    await page.getByRole('button', { name: 'Open in playground' }).click()
    const message = page.getByRole('textbox', { name: 'Message 1', exact: true })
    await eventually(async () => expect(await message.inputValue()).toContain('Plan a text about'))

    // Change the prompt, and compare.
    await message.fill('Plan a text about seas')
    const model = region('Model 1')
    await model.locator('summary', { hasText: 'Parameters' }).click()
    await model.getByLabel('Model 1, address of the API').fill(`${vendor.url}/v1`)
    await page.keyboard.press('Tab')
    const secret = page.getByRole('form', { name: 'Secret OPENAI_API_KEY' })
    await eventually(async () =>
      expect(await secret.getByLabel('Hosts').inputValue()).toBe(new URL(vendor.url).host),
    )
    await secret.getByLabel('Value').fill('sk-fake-0123456789')
    await secret.getByRole('button', { name: 'Save' }).click()
    await secret.waitFor({ state: 'detached' })
    await page.keyboard.press('Control+Enter')
    await model.locator('[data-state="done"]').waitFor()
    const figures = page.getByRole('table', { name: 'Figures of Model 1' })
    const [bill] = vendor.take()
    await eventually(async () =>
      expect(await figures.innerText()).toMatch(new RegExp(`Tokens out\\s+${bill?.output}\\s+[+−±]\\d`)),
    )
    await eventually(async () => expect(await figures.innerText()).toMatch(/Cost\s+\$0\.\d+\s+[+−±]\$?0/))
    const row = figures.getByRole('row', { name: 'Cost' })
    const cost = (await row.getByRole('cell').first().getAttribute('title')) ?? ''

    // The cost is in usage.
    await page.getByRole('link', { name: 'Usage' }).click()
    await page.getByRole('combobox', { name: 'Measure' }).selectOption('cost')
    await page.getByRole('row', { name: 'playground' }).first().getByText(cost, { exact: true }).waitFor()
  })
}
