import { describe, expect, it } from 'vitest'
import { eventually } from '../../../../support/eventually.ts'
import { withoutSdks } from '../../../../support/langgraph-sdks.ts'
import { useDeployment } from '../../../deployments/use-deployment.ts'
import { useHookPage, withoutChromium } from '../hook-page.ts'
import { firstInShort, inLong } from '../../../../support/length.ts'

const words = (count: number): string => Array.from({ length: count }, (_, i) => `w${i} `).join('')

/**
 * Tests of `useStream` on a page of test/fixtures/use-stream, which is from another origin (http.cors). `transports`
 * are the transports that the page supports.
 */
export function describeHook(name: string, page: string, transports: readonly string[]): void {
  const missing = withoutChromium + withoutSdks()
  describe.skipIf(missing !== '')(`useStream of ${name} on a page of another origin${missing}`, () => {
    const setup = useDeployment('protocol-v2')
    const shown = useHookPage(page)

    const open = (graph: string, transport = 'sse'): Promise<void> =>
      shown().open({ url: setup().url, key: setup().weir.key, graph, transport })
    const shows = (selector: string, part: string) => shown().shows(selector, part)
    const click = (selector: string) => shown().page.click(selector)
    const statuses = async () =>
      (await setup().client.runs.list(await shown().threadId())).map(({ status }) => status)

    it.each(firstInShort(transports))(
      'two turns over %s, shown again after a reload (V-1, V-29)',
      async (transport) => {
        await open('chat', transport)
        await click('#quick')
        await shows('#messages', 'ai: Hello from the model.')
        await shows('#state', 'idle')
        await click('#quick')
        await shown().page.locator('#messages li').nth(3).waitFor()
        await shows('#state', 'idle')
        const messages = Array.from({ length: 2 }, () => ['human: hi', 'ai: Hello from the model.']).flat()
        expect(await shown().messages()).toEqual(messages)
        await shown().page.reload()
        await shown().page.locator('#messages li').nth(3).waitFor()
        expect(await shown().messages()).toEqual(messages)
        expect(await shown().text('#error')).toBe('')
      },
    )

    it('stops a run', async () => {
      await open('chat')
      await click('#endless')
      await shows('#messages', 'w3 ')
      await click('#stop')
      await shows('#state', 'idle')
      await eventually(async () => expect(await statuses()).toEqual(['interrupted']))
    })

    inLong(() => {
      it('a page that is loaded again in the middle of a run shows the rest of it (V-29)', async () => {
        await open('chat')
        await click('#slow')
        await shows('#messages', 'w5 ')
        await shown().page.reload()
        await shows('#messages', words(40).trim())
        await shows('#state', 'idle')
        expect(await shown().messages()).toEqual(['human: hi', `ai: ${words(40)}`])
        expect(await statuses()).toEqual(['success'])
      })

      it('shows the error of a run (V-18)', async () => {
        await open('boom')
        await click('#quick')
        await shows('#error', 'The model broke off.')
        await shows('#state', 'idle')
      })
    })

    it('answers an interrupt after the page was loaded again (V-10, V-32)', async () => {
      await open('approve')
      await click('#quick')
      await shows('#interrupt', 'Go on?')
      await shows('#state', 'idle')
      await shown().page.reload()
      await shows('#interrupt', 'Go on?')
      // The hook shows the interrupt from the thread's state at once, but can answer it only after the stream has sent
      // it.
      await eventually(async () => {
        await click('#resume')
        expect(await shown().text('#answer')).toContain('yes')
      })
      await shows('#state', 'idle')
      await shows('#interrupt', 'null')
    })
  })
}
