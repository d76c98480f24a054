import { describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import type { UsedWeir } from '../../support/servers/use-weir.ts'
import type { UsedInterface } from '../../support/servers/web-interface.ts'
import { sendAgentTrace } from './trace.ts'

interface Used {
  server: { current(): UsedWeir }
  used: { current(): UsedInterface }
}

/** Finding runs in a trace, and its critical path. The browser is signed in. */
export function tracePageTests({ server, used }: Used): void {
  describe('the runs of a trace', () => {
    it('finds runs of a trace by what they contain', async () => {
      const call = await sendAgentTrace(server.current())
      const { page, open } = used.current()
      await open(`/traces/${call.trace_id}`)
      await page.getByRole('searchbox', { name: 'Find in the trace' }).fill('日本語')
      await page.locator('[data-dim="true"]').getByText('agent').waitFor()
      await page.locator('[data-dim="false"]').getByText('chat').waitFor()
      await page.getByRole('searchbox', { name: 'Find in the trace' }).fill('nowhere')
      await page.getByText('No run has “nowhere”').waitFor()
    })

    it('marks the critical path of a trace, and keeps that in the address', async () => {
      const call = await sendAgentTrace(server.current())
      const { page, open, broken } = used.current()
      await open(`/traces/${call.trace_id}`)
      const marked = page.getByRole('treegrid').locator('[data-critical="true"]')
      const button = page.getByRole('button', { name: 'Critical path' })
      await button.click()
      await eventually(async () => expect(await marked.count()).toBe(2))
      expect(new URL(page.url()).searchParams.get('path')).toBe('on')
      expect(await broken()).toEqual([])
      await page.keyboard.press('c')
      await eventually(async () => expect(await marked.count()).toBe(0))
    })
  })
}
