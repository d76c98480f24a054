import { randomUUID } from 'node:crypto'
import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { checkLooks } from '../../conformance/web/accessibility.ts'
import { eventually } from '../../support/eventually.ts'
import { type HeldVendor, startHeldVendor } from '../../support/servers/vendors/held-vendor.ts'
import { drained } from '../../support/servers/server.ts'
import { useWeir } from '../../support/servers/use-weir.ts'
import { HAS_BROWSER, NO_BROWSER, signIn, useInterface } from '../../support/servers/web-interface.ts'
import { LONG_MS } from '../../support/campaign.ts'
import { jsonBody } from '../../support/servers/weir-process.ts'

// Chromium goes through many pages.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const SECRET = 'LOCAL_KEY'
const PASTED = 'sk-proj-abcdefghijklmnop0123456789'
/** A script that returns all drafts stored in this browser, as JSON. */
const KEPT = `new Promise((resolve, reject) => {
  const opening = indexedDB.open('weir-playground')
  opening.onerror = () => reject(opening.error)
  opening.onsuccess = () => {
    const reading = opening.result.transaction('drafts').objectStore('drafts').getAll()
    reading.onsuccess = () => {
      opening.result.close()
      resolve(JSON.stringify(reading.result))
    }
  }
})`
/** A script that keeps the drafts of this browser locked until `globalThis.isReleased` is true. */
const LOCK = `new Promise((resolve) => {
  const opening = indexedDB.open('weir-playground')
  opening.onsuccess = () => {
    const drafts = opening.result.transaction('drafts', 'readwrite').objectStore('drafts')
    const wait = () => {
      if (globalThis.isReleased) opening.result.close()
      else drafts.get('none').onsuccess = wait
    }
    wait()
    resolve()
  }
})`

describe.skipIf(!HAS_BROWSER)(`more of the playground in a browser (N15)${NO_BROWSER}`, () => {
  const server = useWeir()
  const used = useInterface(server)
  let held: HeldVendor
  beforeAll(async () => {
    held = await startHeldVendor()
    await signIn(used.current().page, server.current())
    const answer = await server
      .current()
      .request(
        `/api/v1/workspaces/current/secrets/${SECRET}`,
        jsonBody('PUT', { value: 'any', hosts: [new URL(held.url).host] }),
      )
    expect(answer.status).toBe(204)
  })
  afterAll(() => held.stop())

  const column = (place = 1): Locator =>
    used.current().page.getByRole('region', { name: `Model ${place}`, exact: true })
  const message = (name: string): Locator =>
    used.current().page.getByRole('textbox', { name: `Message ${name}`, exact: true })
  const openParameters = (place = 1): Promise<void> =>
    column(place).locator('summary', { hasText: 'Parameters' }).click()

  /** Sends a model call with these settings, as a client does, in one request. Returns the id of its run. */
  async function sendCall(provider: string, params: object): Promise<string> {
    const id = randomUUID()
    const time = new Date().toISOString()
    const run = {
      id,
      trace_id: id,
      name: 'chat',
      run_type: 'llm',
      session_name: 'trips',
      start_time: time,
      end_time: time,
      inputs: { messages: [{ role: 'user', content: 'How warm is it?' }] },
      outputs: { role: 'assistant', content: '18 °C' },
      extra: { metadata: { ls_provider: provider, ls_model_name: 'm' }, invocation_params: params },
    }
    const answer = await server
      .current()
      .request('/api/v1/runs/batch', jsonBody('POST', { post: [run], patch: [] }))
    expect(answer.status).toBe(202)
    await drained(server.current())
    return id
  }

  async function useHeldVendor(place = 1): Promise<void> {
    const own = column(place)
    await own.getByLabel(`Model ${place}, provider`, { exact: true }).selectOption('openai-compatible')
    await own.getByLabel(`Model ${place}, name of the model`).fill('held')
    await own.getByLabel(`Model ${place}, address of the API`).fill(held.url)
    await openParameters(place)
    await own.getByLabel(`Model ${place}, secret`).fill(SECRET)
  }

  /** Ends the newest answer, once the call of the column has arrived. */
  async function answered(place: number, calls: number): Promise<Record<string, unknown>> {
    await eventually(async () => expect(held.asked).toHaveLength(calls))
    held.say('ok')
    held.end()
    await column(place).locator('[data-state="done"]').waitFor()
    return held.asked.at(-1) ?? {}
  }

  it('takes over what the API can express of a run, and names the rest', async () => {
    const tool = { name: 'look', description: '', parameters: { type: 'object', properties: {} } }
    const run = await sendCall('openai', {
      model: 'm',
      tools: [{ type: 'function', function: tool }],
      tool_choice: { type: 'function', function: { name: 'look' } },
      response_format: { type: 'json_object' },
      reasoning: { effort: 'low', summary: 'auto' },
      n: 2,
    })
    const { page, open, broken } = used.current()
    await open(`/playground?from=${run}`)
    await page.getByText('These settings of the run are not sent: n, reasoning.summary.').waitFor()
    await openParameters()
    const choice = column().getByLabel('Model 1, tools')
    expect(await choice.inputValue()).toBe('tool:look')
    const extra = column().getByLabel('Model 1, further fields')
    expect(JSON.parse(await extra.inputValue())).toEqual({
      response_format: { type: 'json_object' },
      reasoning_effort: 'low',
    })
    expect(await broken()).toEqual([])
    await column().getByLabel('Model 1, address of the API').fill(held.url)
    await column().getByLabel('Model 1, secret').fill(SECRET)
    const calls = held.asked.length
    await column().getByRole('button', { name: 'Run', exact: true }).click()
    expect(await answered(1, calls + 1)).toMatchObject({
      tool_choice: { type: 'function', function: { name: 'look' } },
      response_format: { type: 'json_object' },
      reasoning_effort: 'low',
    })
  })

  it('sends the common prompt to every model but those with their own, and has both after a reload', async () => {
    const { page, open, broken } = used.current()
    await open('/playground')
    await page.getByRole('button', { name: 'Start again' }).click()
    await message('1').fill('Be brief.')
    await message('2').fill('common')
    await useHeldVendor()
    await page.getByRole('button', { name: 'Add a model' }).click()
    await column(2).getByRole('button', { name: 'Different prompt' }).click()
    await message('2 of Model 2').fill('own')
    await message('2').fill('common, changed')
    await column(2).getByRole('button', { name: 'Differences' }).click()
    await column(2).locator('del', { hasText: 'common, changed' }).waitFor()
    await column(2).locator('ins', { hasText: 'own' }).waitFor()
    expect(await broken()).toEqual([])
    const texts: unknown[] = []
    for (const place of [1, 2]) {
      const calls = held.asked.length
      await column(place).getByRole('button', { name: 'Run', exact: true }).click()
      const { messages } = await answered(place, calls + 1)
      texts.push((messages as { content: unknown }[]).map(({ content }) => content))
    }
    expect(texts).toEqual([
      ['Be brief.', 'common, changed'],
      ['Be brief.', 'own'],
    ])
    // The answer under a prompt of its own stays above the fold, beside that of the common prompt.
    for (const place of [1, 2]) {
      const box = await column(place).getByText('ok', { exact: true }).last().boundingBox()
      expect((box?.y ?? Number.POSITIVE_INFINITY) + (box?.height ?? 0)).toBeLessThan(900)
    }
    await column(2).getByRole('button', { name: 'Add to the prompt' }).click()
    expect(await message('3 of Model 2').inputValue()).toBe('ok')
    expect(await message('3').count()).toBe(0)
    await page.getByText('Kept in this browser').waitFor()
    await page.reload()
    expect([await message('2').inputValue(), await message('2 of Model 2').inputValue()]).toEqual([
      'common, changed',
      'own',
    ])
    // The draft keeps the names of secrets that the server has accepted.
    await openParameters(2)
    expect(await column(2).getByLabel('Model 2, secret').inputValue()).toBe(SECRET)
    await checkLooks(used.current(), 'a playground with a prompt of its own')
    await column(2).getByRole('button', { name: 'Use the common prompt' }).click()
    await message('2 of Model 2').waitFor({ state: 'detached' })
  })

  it('keeps what is typed right after “Start again”, while the draft before is still being deleted', async () => {
    const { page, open } = used.current()
    await open('/playground')
    await message('2').fill('the draft before')
    await page.getByText('Kept in this browser').waitFor()
    await page.evaluate(LOCK)
    await page.getByRole('button', { name: 'Start again' }).click()
    await eventually(async () => expect(await message('2').inputValue()).toBe(''))
    await message('2').fill('typed at once')
    await page.evaluate('globalThis.isReleased = true')
    await page.getByText('Kept in this browser').waitFor()
    expect(await message('2').inputValue()).toBe('typed at once')
    await page.reload()
    expect(await message('2').inputValue()).toBe('typed at once')
  })

  it('removes a key that is pasted in place of the name of a secret, and keeps neither', async () => {
    const { page, open, broken } = used.current()
    await open('/playground')
    await page.getByRole('button', { name: 'Start again' }).click()
    await message('2').fill('a text to keep')
    await openParameters()
    const field = column().getByLabel('Model 1, secret')
    await field.fill(PASTED)
    await column().getByRole('alert').getByText('looks like a key').waitFor()
    expect(await field.inputValue()).toBe('')
    expect(await broken()).toEqual([])
    await field.fill(SECRET)
    await column().getByRole('alert').waitFor({ state: 'detached' })
    await page.getByText('Kept in this browser').waitFor()
    const drafts = JSON.parse(await page.evaluate<string>(KEPT)) as unknown[]
    const texts = drafts.map((draft) => JSON.stringify(draft))
    expect(texts.join('')).not.toContain(PASTED.slice(0, 12))
    const kept = texts.find((text) => text.includes('a text to keep'))
    expect(kept).toBeDefined()
    // SECRET may be the key of an unknown vendor. The draft keeps it only after the server has accepted it as the name
    // of a secret.
    expect(kept).not.toContain(SECRET)
  })
})
