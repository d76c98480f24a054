import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { REPLY } from '../../instrumentations/vendor/call.ts'
import { type MeteredVendor, startMeteredVendor } from '../../instrumentations/vendor/metered-vendor.ts'
import { eventually } from '../../support/eventually.ts'
import { type HeldVendor, startHeldVendor } from '../../support/servers/vendors/held-vendor.ts'
import { useWeir } from '../../support/servers/use-weir.ts'
import { HAS_BROWSER, NO_BROWSER, signIn, useInterface } from '../../support/servers/web-interface.ts'
import { LONG_MS } from '../../support/campaign.ts'
import { jsonBody } from '../../support/servers/weir-process.ts'

// Chromium goes through many pages.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const PROVIDERS = {
  openai: { model: 'gpt-4o-mini', path: '/v1', secret: 'OPENAI_API_KEY' },
  anthropic: { model: 'claude-3-5-haiku-20241022', path: '', secret: 'ANTHROPIC_API_KEY' },
  google: { model: 'gemini-2.0-flash', path: '/v1beta', secret: 'GOOGLE_API_KEY' },
  'openai-compatible': { model: 'llama3.2', path: '/v1', secret: 'OPENAI_COMPATIBLE_API_KEY' },
} as const
type Name = keyof typeof PROVIDERS
/** Providers that are called in this file. OpenAI is called in test/long/playground/repeated-call.test.ts. */
const NAMES: readonly Name[] = ['anthropic', 'google', 'openai-compatible']

/** A picture of one red pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg=='

describe.skipIf(!HAS_BROWSER)(`models in the playground in a browser (N15)${NO_BROWSER}`, () => {
  const server = useWeir()
  const used = useInterface(server)
  let vendor: MeteredVendor
  let held: HeldVendor
  beforeAll(async () => {
    ;[vendor, held] = await Promise.all([startMeteredVendor(), startHeldVendor()])
    await signIn(used.current().page, server.current())
  })
  afterAll(async () => {
    await Promise.all([vendor.stop(), held.stop()])
  })

  const column = (place = 1): Locator =>
    used.current().page.getByRole('region', { name: `Model ${place}`, exact: true })
  const done = (place = 1): Promise<void> => column(place).locator('[data-state="done"]').waitFor()
  const figures = (place = 1): Promise<string> =>
    used
      .current()
      .page.getByRole('table', { name: `Figures of Model ${place}` })
      .innerText()

  async function putSecret(key: string, url: string): Promise<void> {
    const answer = await server
      .current()
      .request(
        `/api/v1/workspaces/current/secrets/${key}`,
        jsonBody('PUT', { value: 'sk-fake-0123456789', hosts: [new URL(url).host] }),
      )
    expect(answer.status).toBe(204)
  }

  /** Fills in the fields that determine which model is called, with an address of the test. */
  async function choose(name: Name, model: string, url: string, place = 1): Promise<void> {
    const own = column(place)
    await own.getByLabel(`Model ${place}, provider`, { exact: true }).selectOption(name)
    await own.getByLabel(`Model ${place}, name of the model`).fill(model)
    const parameters = own.locator('details', { hasText: 'Parameters' })
    if ((await parameters.getAttribute('open')) === null) await parameters.locator('summary').click()
    await own.getByLabel(`Model ${place}, address of the API`).fill(url)
    await own.getByLabel(`Model ${place}, secret`).fill(PROVIDERS[name].secret)
  }

  async function openEmpty(): Promise<void> {
    const { page, open } = used.current()
    await open('/playground')
    await page.getByRole('button', { name: 'Start again' }).click()
    await eventually(async () =>
      expect(await page.getByLabel('Message 2', { exact: true }).last().inputValue()).toBe(''),
    )
  }

  /** The field of the first block of a message. */
  const message = (place: number): Locator =>
    used.current().page.getByRole('textbox', { name: `Message ${place}`, exact: true })

  it.each(NAMES)(
    'calls a model of %s, whose tokens and trace are the ones that were billed',
    async (name) => {
      const { model, path, secret } = PROVIDERS[name]
      await putSecret(secret, vendor.url)
      await openEmpty()
      await message(1).fill('Be brief.')
      await message(2).fill('hi')
      await choose(name, model, vendor.url + path)
      await column().getByRole('button', { name: 'Run', exact: true }).click()
      await done()
      await column().getByText(REPLY).waitFor()
      const [bill] = vendor.take()
      expect(bill).toMatchObject({ model, streamed: true, refused: false })
      const text = await figures()
      expect(text).toMatch(new RegExp(`Tokens in\\s+${bill?.input}\\s+Tokens out\\s+${bill?.output}\\s`))
      expect(text).toMatch(/First token\s+\d/)
    },
  )

  it('runs up to four models side by side, and shows the text of a refusal', async () => {
    await putSecret('OPENAI_API_KEY', vendor.url)
    await openEmpty()
    const { page } = used.current()
    await message(2).fill('hi')
    await choose('openai', 'gpt-4o-mini', `${vendor.url}/v1`)
    const add = page.getByRole('button', { name: 'Add a model' })
    for (let place = 2; place <= 4; place += 1) {
      await add.click()
      await column(place).waitFor()
    }
    expect(await add.isDisabled()).toBe(true)
    await column(3).getByLabel('Model 3, name of the model').fill('broken')
    await page.getByRole('button', { name: 'Run all' }).click()
    await Promise.all([done(1), done(2), done(4)])
    const refusal = column(3).getByRole('alert')
    await refusal.waitFor()
    expect(await refusal.innerText()).toContain('The provider answered with status 400: this model is broken')
    expect(await refusal.innerText()).toMatch(/provider_\w+ · request \S+/)
    expect(vendor.take()).toHaveLength(4)
    await column(2).getByRole('button', { name: 'Remove Model 2' }).click()
    await column(4).waitFor({ state: 'detached' })
  })

  it('shows text as it arrives, stops a call, and has the prompt and the answer after a reload', async () => {
    await putSecret('OPENAI_COMPATIBLE_API_KEY', held.url)
    await openEmpty()
    const { page } = used.current()
    await message(1).fill('Answer in 日本語.')
    await message(2).fill('Tell me a story')
    await choose('openai-compatible', 'slow', held.url)
    const input = page.getByLabel('Files for message 2')
    await input.setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(PNG, 'base64') })
    await page.getByRole('img', { name: /^image, image\/png/ }).waitFor()
    await column().getByRole('button', { name: 'Run', exact: true }).click()
    await eventually(async () => expect(held.asked).toHaveLength(1))
    expect(JSON.stringify(held.asked[0])).toContain(`data:image/png;base64,${PNG}`)
    await column().getByText('waiting for the first token').waitFor()
    held.say('Once upon ')
    await column().getByText('Once upon').waitFor()
    await column().getByRole('button', { name: 'Stop', exact: true }).click()
    await column().locator('[data-state="stopped"]').waitFor()
    await eventually(async () => expect(held.wasLeft()).toBe(true))
    await page.getByText('Kept in this browser').waitFor()
    await page.reload()
    await column().getByText('Once upon').waitFor()
    expect([await message(1).inputValue(), await message(2).inputValue()]).toEqual([
      'Answer in 日本語.',
      'Tell me a story',
    ])
    await page.getByRole('img', { name: /^image, image\/png/ }).waitFor()
    expect(await column().getByLabel('Model 1, name of the model').inputValue()).toBe('slow')
  })

  it('is used by keyboard alone, and names what cannot be sent', async () => {
    await putSecret('OPENAI_COMPATIBLE_API_KEY', held.url)
    await openEmpty()
    const { page } = used.current()
    await choose('openai-compatible', 'slow', held.url)
    await column().getByLabel('Model 1, further fields').fill('{"a": 1,\n')
    await message(2).focus()
    await page.keyboard.type('hi')
    await page.keyboard.press('Control+Enter')
    await column().getByText('Further fields is not JSON').waitFor()
    await column().getByLabel('Model 1, further fields').fill('{"reasoning_effort": "low"}')
    const before = held.asked.length
    await message(2).press('Control+Enter')
    await eventually(async () => expect(held.asked).toHaveLength(before + 1))
    expect(held.asked.at(-1)).toMatchObject({ reasoning_effort: 'low', model: 'slow' })
    held.say('**Done**')
    held.end()
    await done()
    await column().locator('strong', { hasText: 'Done' }).waitFor()
  })

  it('reports that the answer broke off', async () => {
    await putSecret('OPENAI_COMPATIBLE_API_KEY', 'http://127.0.0.1:9/v1')
    await openEmpty()
    await message(2).fill('hi')
    await choose('openai-compatible', 'none', 'http://127.0.0.1:9/v1')
    await column().getByRole('button', { name: 'Run', exact: true }).click()
    await column().getByRole('alert').getByText('127.0.0.1:9 did not answer').waitFor()
    await column().getByLabel('Model 1, address of the API').fill(held.url)
    await column().getByRole('button', { name: 'Run', exact: true }).click()
    await column().getByRole('alert').getByText('is for 127.0.0.1:9, and not for').waitFor()
  })
})
