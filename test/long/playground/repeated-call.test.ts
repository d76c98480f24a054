import { Client, RunTree } from 'langsmith'
import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TOOL_CALL, WEATHER_REPLY } from '../../instrumentations/vendor/call.ts'
import { type MeteredVendor, startMeteredVendor } from '../../instrumentations/vendor/metered-vendor.ts'
import { eventually } from '../../support/eventually.ts'
import { drained } from '../../support/servers/server.ts'
import { useWeir } from '../../support/servers/use-weir.ts'
import { HAS_BROWSER, NO_BROWSER, signIn, useInterface } from '../../support/servers/web-interface.ts'

const TOOL = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
}
describe.skipIf(!HAS_BROWSER)(`the playground in a browser (N15)${NO_BROWSER}`, () => {
  const server = useWeir()
  const used = useInterface(server)
  let vendor: MeteredVendor
  beforeAll(async () => {
    vendor = await startMeteredVendor()
    await signIn(used.current().page, server.current())
  })
  afterAll(() => vendor.stop())

  const column = (place = 1): Locator =>
    used.current().page.getByRole('region', { name: `Model ${place}`, exact: true })
  const done = (place = 1): Promise<void> => column(place).locator('[data-state="done"]').waitFor()
  const figures = (place = 1): Promise<string> =>
    used
      .current()
      .page.getByRole('table', { name: `Figures of Model ${place}` })
      .innerText()

  /** The field of the first block of a message. */
  const message = (place: number): Locator =>
    used.current().page.getByRole('textbox', { name: `Message ${place}`, exact: true })

  /** A model call with a tool, in the form that the SDK sends. */
  async function sendCall(): Promise<RunTree> {
    const client = new Client({ apiUrl: server.current().url, apiKey: server.current().key })
    const run = new RunTree({
      name: 'chat',
      run_type: 'llm',
      client,
      project_name: 'trips',
      inputs: {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'How warm is it in Paris?' },
        ],
      },
      metadata: { ls_provider: 'openai', ls_model_name: 'gpt-4o-mini' },
      extra: { invocation_params: { model: 'gpt-4o-mini', temperature: 0.5, stop: ['END'], tools: [TOOL] } },
    })
    await run.postRun()
    await run.end({
      choices: [{ message: { role: 'assistant', content: 'It is 18 °C in Paris.' } }],
      usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
    })
    await run.patchRun()
    await client.awaitPendingTraceBatches()
    await drained(server.current())
    return run
  }

  it('repeats a model call: asks for the missing secret, streams, and compares with the source', async () => {
    const call = await sendCall()
    const { page, open, broken } = used.current()
    await open(`/traces/${call.trace_id}`)
    await page.getByRole('button', { name: 'Open in playground' }).click()
    await page.getByRole('heading', { name: 'Playground' }).waitFor()
    expect([await message(1).inputValue(), await message(2).inputValue()]).toEqual([
      'Be brief.',
      'How warm is it in Paris?',
    ])
    const own = column()
    expect(await own.getByLabel('Model 1, name of the model').inputValue()).toBe('gpt-4o-mini')
    await own.locator('summary', { hasText: 'Parameters' }).click()
    expect(await own.getByLabel('Model 1, temperature').inputValue()).toBe('0.5')
    await own.getByLabel('Model 1, address of the API').fill(`${vendor.url}/v1`)
    await message(2).fill('How warm is it in Lyon?')
    const secret = page.getByRole('form', { name: 'Secret OPENAI_API_KEY' })
    await eventually(async () =>
      expect(await secret.getByLabel('Hosts').inputValue()).toBe(new URL(vendor.url).host),
    )
    expect(await broken()).toEqual([])
    await secret.getByLabel('Value').fill('sk-fake-0123456789')
    await secret.getByRole('button', { name: 'Save' }).click()
    await secret.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Run ⌘⏎' }).click()
    await done()
    await own.locator('b', { hasText: TOOL_CALL.name }).waitFor()
    await eventually(async () => expect(await figures()).toMatch(/Tokens in\s+211\s+\+111/))
    expect(await figures()).toMatch(/Tokens out\s+31\s+−19/)
    await eventually(async () => expect(await figures()).toMatch(/Cost\s+\$0\.\d+\s+[+−]\$0/))
    expect(await broken()).toEqual([])
    vendor.take()
    await own.getByRole('button', { name: 'Add to the prompt' }).click()
    await message(4).fill('18 degrees')
    await page.keyboard.press('Control+Enter')
    await own.getByText(WEATHER_REPLY).waitFor()
    await done()
    vendor.take()
    await own.getByRole('link', { name: 'Open the trace' }).click()
    await page.locator('#run').getByText('18 degrees').first().waitFor()
    const stored = await server
      .current()
      .json<{ extra: { metadata: object } }>(`/api/v1/runs/${new URL(page.url()).searchParams.get('run')}`)
    expect(stored.extra.metadata).toMatchObject({ source_run_id: call.id })
  })

  it('stores, replaces and deletes secrets in the settings, and never shows their values', async () => {
    const { page, open, broken } = used.current()
    await open('/settings?view=secrets')
    await page.getByRole('button', { name: 'Add a secret' }).click()
    const form = page.getByRole('form', { name: 'New secret' })
    await form.getByLabel('Name').fill('OWN_KEY')
    await form.getByLabel('Value').fill('sk-first-value')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('name the hosts that may receive OWN_KEY').waitFor()
    expect(await broken()).toEqual([])
    await form.getByLabel('Hosts').fill('api.example.com, 127.0.0.1:11434')
    await form.getByRole('button', { name: 'Save' }).click()
    const row = page.getByRole('row', { name: 'OWN_KEY' })
    await row.getByText('127.0.0.1:11434').waitFor()
    await row.getByRole('button', { name: 'Replace OWN_KEY' }).click()
    const next = page.getByRole('form', { name: 'New value of OWN_KEY' })
    expect(await next.getByLabel('Hosts').inputValue()).toBe('api.example.com 127.0.0.1:11434')
    await next.getByLabel('Value').fill('sk-second-value')
    await next.getByLabel('Hosts').fill('api.example.com')
    await next.getByRole('button', { name: 'Save' }).click()
    await row.getByText('127.0.0.1:11434').waitFor({ state: 'detached' })
    expect(await page.content()).not.toContain('sk-')
    await row.getByRole('button', { name: 'Delete OWN_KEY' }).click()
    await page.getByRole('button', { name: 'Delete it' }).click()
    await row.waitFor({ state: 'detached' })
  })
})
