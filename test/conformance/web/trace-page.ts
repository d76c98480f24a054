import { describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import type { UsedWeir } from '../../support/servers/use-weir.ts'
import type { UsedInterface } from '../../support/servers/web-interface.ts'
import { sendAgentTrace } from './trace.ts'
import { inLong } from '../../support/length.ts'

interface Used {
  server: { current(): UsedWeir }
  used: { current(): UsedInterface }
}

/** Search for runs in a trace (N5), and the trace's critical path. The browser is signed in. */
export function tracePageTests({ server, used }: Used): void {
  inLong(() => {
    describe('the runs of a trace', () => {
      it('finds runs of a trace by what they contain (complaint: no search inside a trace, phoenix #7695)', async () => {
        const call = await sendAgentTrace(server.current())
        const { page, open } = used.current()
        await open(`/traces/${call.trace_id}`)
        await page.getByRole('searchbox', { name: 'Find in the trace' }).fill('日本語')
        await page.locator('[data-dim="true"]').getByText('agent').waitFor()
        await page.locator('[data-dim="false"]').getByText('chat').click()
        await page.getByText('“日本語” is in inputs.messages[0].content').waitFor()
        await page.getByRole('searchbox', { name: 'Find in the trace' }).fill('nowhere')
        await page.getByText('No run has “nowhere”').waitFor()
      })

      it('N5: POST /traces/{id}/search names the runs of a trace with a text, in any script, and its paths', async () => {
        const call = await sendAgentTrace(server.current(), '日本語 مرحبا "quoted"\nnext \\ 🙂 Straße')
        const search = async (query: string): Promise<unknown[]> => {
          const answer = await server.current().request(`/api/v1/traces/${call.trace_id}/search`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ query }),
          })
          expect(answer.headers.get('content-type')).toContain('application/x-ndjson')
          const lines = (await answer.text()).trimEnd().split('\n')
          return lines.map((line) => JSON.parse(line) as unknown)
        }
        const end = { cursors: { next: null, prev: null } }
        const found = { run_id: call.id, paths: ['inputs.messages[0].content'] }
        for (const text of ['日本', 'مرحبا', '"quoted"\nNEXT', 'next \\ 🙂', 'straße'])
          expect([text, ...(await search(text))]).toEqual([text, found, end])
        expect(await search('nowhere')).toEqual([end])
      })
    })
  })
}

/** The critical path of a trace. The browser is signed in. */
export function moreTracePageTests({ server, used }: Used): void {
  describe('the critical path', () => {
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
