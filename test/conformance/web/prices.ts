import { Client, RunTree } from 'langsmith'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { drained } from '../../support/servers/server.ts'
import type { UsedWeir } from '../../support/servers/use-weir.ts'
import type { UsedInterface } from '../../support/servers/web-interface.ts'
import { inLong } from '../../support/length.ts'

const MODEL = 'tuned-1'

/** Sends a call of a model for which there is no shipped price. Returns it when it is stored. */
async function sendUnpriced(weir: UsedWeir): Promise<RunTree> {
  const client = new Client({ apiUrl: weir.url, apiKey: weir.key })
  const call = new RunTree({
    name: 'tuned',
    run_type: 'llm',
    client,
    project_name: 'prices',
    inputs: { messages: [{ role: 'user', content: 'hi' }] },
    metadata: { ls_provider: 'acme', ls_model_name: MODEL },
  })
  await call.postRun()
  await call.end({
    messages: [{ role: 'assistant', content: 'hello' }],
    usage_metadata: { input_tokens: 30, output_tokens: 10, total_tokens: 40 },
  })
  await call.patchRun()
  await client.awaitPendingTraceBatches()
  await drained(weir)
  return call
}

interface Used {
  server: { current(): UsedWeir }
  used: { current(): UsedInterface }
}

/** The prices page. The browser is signed in as an admin. */
export function priceTests({ server, used }: Used): void {
  inLong(() => {
    describe('prices', () => {
      it('leads from a call without a price to one of its own, and to the cost of the call (complaint: own price ignored, langfuse #2491)', async () => {
        const call = await sendUnpriced(server.current())
        const { page, open, broken } = used.current()
        await open(`/traces/${call.trace_id}?run=${call.id}`)
        const reason = page.getByText('no price matches', { exact: false })
        expect(await reason.innerText()).toBe(
          `The cost is unknown: no price matches model ${MODEL} of provider acme.`,
        )
        await page.getByRole('link', { name: 'Add a price' }).click()
        await page.getByRole('button', { name: `Add a price for ${MODEL}` }).click()
        const form = page.getByRole('form', { name: 'Price', exact: true })
        expect(await form.getByLabel('Pattern').inputValue()).toBe(`^${MODEL}$`)
        expect(await form.getByLabel('Provider').inputValue()).toBe('acme')
        await form.getByLabel('Input, $').fill('much')
        await form.getByLabel('Output, $').fill('2')
        await form.getByRole('button', { name: 'Save' }).click()
        await form.getByRole('alert').getByText('The price of input').waitFor()
        expect(await broken()).toEqual([])
        await form.getByLabel('Input, $').fill('0.25')
        await form.getByLabel('Parts of the input').fill('cache_read 0.025')
        await form.getByRole('button', { name: 'What would change' }).click()
        await form.getByText('from $0 to $0.0000275 in all').waitFor()
        await form.getByRole('button', { name: 'Save' }).click()
        const answer = page.getByRole('region', {
          name: 'The price of such a run',
        })
        await answer.getByText('Own price').waitFor()
        await answer.getByText('$0.025').waitFor()
        const again = page.getByRole('form', { name: 'Compute costs again' })
        // The call of today is in the time that the form proposes.
        await again.getByRole('button', { name: 'What would change' }).click()
        await page.getByRole('status').getByText('from $0 to $0.0000275 in all').waitFor()
        await again.getByLabel('Runs that start from').fill('2026-01-01T00:00')
        await again.getByLabel('until').fill('2100-01-01T00:00')
        await again.getByRole('button', { name: 'Compute again' }).click()
        await page.getByRole('status').getByText('Done').waitFor()
        // 30 × 0.25 + 10 × 2 dollars per million.
        const path = `/api/v1/runs/${call.id}`
        expect(await server.current().json(path)).toMatchObject({
          total_cost: '0.0000275',
        })
      })
    })
  })
}

/** Changes of an organization's own prices. The browser is signed in. */
export function morePriceTests({ server, used }: Used): void {
  describe('own prices', () => {
    it('lists, edits and removes own prices, and finds the shipped one for a model', async () => {
      const { json } = server.current()
      const price = {
        match_pattern: '^listed$',
        prompt_cost: '0.000001',
        completion_cost: '0.000002',
      }
      await json('/api/v1/model-price-map', { ...price, name: 'Listed' })
      const { page, open, broken } = used.current()
      await open('/prices?q=LISTED')
      const table = page.getByRole('region', {
        name: 'Own prices',
        exact: true,
      })
      await table.getByRole('row', { name: 'Listed' }).getByText('$1', { exact: true }).waitFor()
      expect(await table.getByRole('rowheader').allInnerTexts()).toEqual(['Listed'])
      expect(await broken()).toEqual([])
      await table.getByRole('button', { name: 'Edit Listed' }).click()
      await page.getByLabel('Output, $').fill('3.5')
      await page.getByRole('button', { name: 'Save' }).click()
      await table.getByText('$3.5').waitFor()
      await table.getByRole('button', { name: 'Remove Listed' }).click()
      await page.getByText('would change.').waitFor()
      await page.getByRole('button', { name: 'Remove it' }).click()
      await eventually(async () => expect(await table.count()).toBe(0))
      const left = await json<{ name: string }[]>('/api/v1/model-price-map')
      expect(left.map(({ name }) => name)).not.toContain('Listed')
      const form = page.getByRole('form', { name: 'Find the price of a run' })
      await form.getByLabel('Model').fill('gpt-4.1-mini')
      await form.getByLabel('Provider').fill('openai')
      await form.getByRole('button').click()
      await page.getByText('genai-prices:openai/gpt-4.1-mini').waitFor()
      expect(new URL(page.url()).searchParams.get('model')).toBe('gpt-4.1-mini')
    })
  })
}
