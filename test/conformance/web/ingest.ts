import { describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import type { UsedWeir } from '../../support/servers/use-weir.ts'
import type { UsedInterface } from '../../support/servers/web-interface.ts'
import { inLong } from '../../support/length.ts'

const RUN = {
  id: '0199a0de-0000-7000-8000-000000000001',
  name: 'ChatOpenAI',
  run_type: 'llm',
  start_time: '2026-11-22T10:00:00Z',
  inputs: { messages: [{ role: 'user', content: 'hi' }] },
  outputs: { messages: [{ role: 'asistant', content: 'hello' }] },
}

interface Used {
  server: { current(): UsedWeir }
  used: { current(): UsedInterface }
}

/** The pages Ingest and Validate. The browser is signed in. */
export function ingestTests({ server, used }: Used): void {
  describe('the pages about what is sent', () => {
    inLong(() => {
      it('Ingest shows the figures of the server, and what a refused record lacks', async () => {
        const refused = await server.current().request('/api/v1/runs/batch', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ post: [{ ...RUN, id: 'none' }] }),
        })
        expect(refused.status).toBe(422)
        const { page, open, broken } = used.current()
        await open('/ingest')
        const row = page.getByRole('row', { name: /invalid_run_id/ })
        await row.getByText('Use a UUID as id of every run.').waitFor()
        await eventually(async () => {
          const health = await (await server.current().request('/api/v1/ingest/health')).json()
          expect(health).toMatchObject({ status: 'ok' })
          const accepted = (health as { accepted: number }).accepted.toLocaleString('en-US')
          expect(await page.getByText('Accepted').locator('..').locator('dd').textContent()).toBe(accepted)
          expect(await page.getByRole('heading', { name: 'Records are stored as they arrive' }).count()).toBe(
            1,
          )
        })
        expect(await broken()).toEqual([])
      })
    })

    it('Validate checks pasted runs, and selects the value that an issue is about', async () => {
      const { page, open, broken } = used.current()
      await open('/validate')
      const text = JSON.stringify({ post: [RUN], patch: [] }, null, 2)
      await page.getByLabel('Runs').fill(text)
      await page.getByRole('button', { name: 'Check' }).click()
      await page.getByRole('heading', { name: '1 run, 1 model call: 1 not valid' }).waitFor()
      await page.getByRole('button', { name: 'outputs.messages[0].role' }).click()
      await page.keyboard.press('Control+c')
      await eventually(async () =>
        expect(await page.evaluate('navigator.clipboard.readText()')).toBe('"asistant"'),
      )
      expect(await broken()).toEqual([])
    })
  })
}

/** Opens files on the page Validate. The browser is signed in. */
export function moreIngestTests({ used }: Used): void {
  describe('the page Validate', () => {
    it('Validate checks a file as it is, and says what cannot be read', async () => {
      const { page, open } = used.current()
      await open('/validate')
      const picker = page.getByLabel('File', { exact: true })
      const valid = {
        ...RUN,
        outputs: { messages: [{ role: 'assistant', content: 'hello' }] },
        run_type: 'tool',
      }
      await picker.setInputFiles({
        name: 'runs.ndjson',
        mimeType: 'application/x-ndjson',
        buffer: Buffer.from(`${JSON.stringify(valid)}\n`),
      })
      await page.getByRole('heading', { name: '1 run, 0 model calls: all valid' }).waitFor()
      await page.getByLabel('Runs').fill('{"post": [')
      await page.keyboard.press('Control+Enter')
      await page.getByRole('alert').getByText('invalid_json').waitFor()
    })
  })
}
