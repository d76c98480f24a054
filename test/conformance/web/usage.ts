import { describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import type { UsedWeir } from '../../support/servers/use-weir.ts'
import type { UsedInterface } from '../../support/servers/web-interface.ts'

interface Used {
  server: { current(): UsedWeir }
  used: { current(): UsedInterface }
  /** Sends a trace with a model call to the project `trips`; returns the ids of both. */
  sent(): Promise<{ project: string; trace: string }>
}

/** The usage page. The browser is signed in as an admin. */
export function usageTests({ server, used, sent }: Used): void {
  describe('usage', () => {
    it('counts on the usage page what the API counts, and opens the very traces of a number (complaint: the chart counts other things than it lists, future-agi #2841)', async () => {
      const { project, trace } = await sent()
      const { page, open } = used.current()
      await open('/usage')
      const row = page.getByRole('row', { name: 'trips' }).first()
      await row.waitFor()
      const csv = (await page.getByRole('link', { name: 'CSV' }).getAttribute('href')) ?? ''
      const report = csv.replace('/export', '')
      const counted = await server.current().json<{
        usage: { dimensions: { project_id: string }; traces: number }[]
      }>(report)
      const mine = counted.usage.filter(({ dimensions }) => dimensions.project_id === project)
      const traces = mine.reduce((sum, one) => sum + one.traces, 0)
      await eventually(async () => expect(await row.getByRole('link').innerText()).toBe(String(traces)))
      const parts = page.getByRole('region', { name: 'Report' }).locator('figure rect')
      await eventually(async () => expect(await parts.count()).toBe(counted.usage.length))
      await row.getByRole('link').click()
      const list = page.getByRole('region', { name: 'Counted traces' })
      await list.getByRole('link', { name: trace }).waitFor()
      await eventually(async () => expect(await list.getByRole('rowheader').count()).toBe(traces))
      await page.goBack()
      await parts.first().click()
      await list.waitFor()
      expect(new URL(page.url()).searchParams.get('time_bucket')).not.toBeNull()
    })
  })
}

/** Further lists, and limits, on the usage page. The browser is signed in as an admin. */
export function moreUsageTests({ server, used, sent }: Used): void {
  describe('lists of usage', () => {
    it('has the runs behind the tokens of a model, and those behind the cost of a project', async () => {
      await sent()
      const { page, open } = used.current()
      await open('/usage?by=model')
      const model = page.getByRole('row', { name: 'openai · gpt-4.1-mini' }).first()
      const tokens = await model.getByRole('link').innerText()
      await model.getByRole('link').click()
      await page.getByText(`together ${tokens} tokens`).waitFor()
      const runs = page.getByRole('region', { name: 'Runs of the number' })
      await runs.getByRole('link', { name: 'chat' }).first().waitFor()
      await open('/usage?of=cost')
      const row = page.getByRole('row', { name: 'trips' }).first()
      const cost = await row.getByRole('link').innerText()
      await row.getByRole('link').click()
      await page.getByText(`together ${cost},`).waitFor()
    })

    it('N9: reads the list behind a number again when it is opened again', async () => {
      const { json } = server.current()
      /** Sends a trace; returns its id once it is counted. */
      const counted = async (): Promise<string> => {
        const { trace } = await sent()
        const query = new URLSearchParams({
          start_time: new Date(0).toISOString(),
          end_time: new Date(Date.now() + 86_400_000).toISOString(),
          workspace_ids: (await json<{ id: string }[]>('/api/v1/workspaces')).map(({ id }) => id).join(),
          trace_id: trace,
        })
        const path = `/api/v1/orgs/current/billing/usage-traces?${query.toString()}`
        await eventually(async () => expect(await json(path)).toMatchObject({ items: [{ trace_id: trace }] }))
        return trace
      }
      const { page, open } = used.current()
      await counted()
      await open('/usage')
      const number = page.getByRole('row', { name: 'trips' }).first().getByRole('link')
      const list = page.getByRole('region', { name: 'Counted traces' })
      await number.click()
      await list.waitFor()
      await page.goBack()
      const trace = await counted()
      await number.click()
      await list.getByRole('link', { name: trace }).waitFor()
    })
  })

  describe('limits of usage', () => {
    it('sets a monthly limit, shows how much of it is used, and removes it', async () => {
      const { page, open } = used.current()
      await open('/usage')
      const form = page.getByRole('form', { name: 'Set a limit' })
      await form.getByLabel('Traces a month').fill('1000000')
      await form.getByRole('button', { name: 'Set the limit' }).click()
      const limits = page.getByRole('region', { name: 'Monthly limits' })
      await limits.getByText('of 1,000,000').waitFor()
      const read = async () => await server.current().json<unknown[]>('/api/v1/usage-limits')
      expect(await read()).toMatchObject([{ limit_value: 1_000_000, mode: 'soft' }])
      await limits.getByRole('button', { name: 'Remove the limit' }).click()
      await page.getByText('No workspace and no key has a limit').waitFor()
      expect(await read()).toEqual([])
      const { api_key } = await server.current().json<{ api_key: { id: string } }>('/api/v1/auth/session')
      await form.getByLabel('Workspace or API key').selectOption(api_key.id)
      await form.getByRole('button', { name: 'Set the limit' }).click()
      await limits.getByRole('rowheader', { name: /^API key / }).waitFor()
      await limits.getByText('of 1,000,000').waitFor()
      expect(await read()).toMatchObject([{ api_key_id: api_key.id, workspace_id: null }])
      await limits.getByRole('button', { name: 'Remove the limit' }).click()
      await page.getByText('No workspace and no key has a limit').waitFor()
    })
  })
}
