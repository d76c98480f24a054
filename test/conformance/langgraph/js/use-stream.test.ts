import { describe, expect, it } from 'vitest'
import { eventually } from '../../../support/eventually.ts'
import { newGate } from '../../../support/runs/gate.ts'
import { useDeployment } from '../../deployments/use-deployment.ts'
import { hasChromium, useHookPage, withoutChromium } from './hook-page.ts'
import { inLong } from '../../../support/length.ts'

describe.skipIf(!hasChromium)(`useStream of the SDK on a page of another origin${withoutChromium}`, () => {
  const setup = useDeployment()
  const shown = useHookPage('page.mjs')

  /** Opens the page for a graph. If the graph is slow, its run ends when the file `gate` exists. */
  const open = (graph: string, gate = ''): Promise<void> =>
    shown().open({ url: setup().url, key: setup().weir.key, graph, gate })
  const text = (selector: string) => shown().text(selector)
  const messages = () => shown().messages()
  const shows = (selector: string, part: string) => shown().shows(selector, part)
  const threadId = () => shown().threadId()

  it('shows what a run streams, and keeps it after its end', async () => {
    await open('tokens')
    await shown().page.click('#quick')
    await shows('#messages', 'tok19')
    await shows('#state', 'idle')
    expect(await messages()).toEqual(['human: hi', `ai: ${tokens(20)}`])
    await shown().page.click('#quick')
    await shown().page.locator('#messages li').nth(3).waitFor()
    await shows('#state', 'idle')
    expect(await text('#error')).toBe('')
    const runs = await setup().client.runs.list(await threadId())
    expect(runs.map(({ status }) => status)).toEqual(['success', 'success'])
  })

  inLong(() => {
    it('stops a run', async () => {
      await open('tokens')
      await shown().page.click('#endless')
      await shows('#messages', 'tok3 ')
      await shown().page.click('#stop')
      await shows('#state', 'idle')
      const thread_id = await threadId()
      await eventually(async () => {
        const [run] = await setup().client.runs.list(thread_id)
        expect(run?.status).toBe('interrupted')
      })
      expect(await text('#error')).toBe('')
    })

    it('resumes a run when the page is loaded again in the middle of it', async () => {
      const gate = await newGate()
      await open('tokens', gate.file)
      await shown().page.click('#slow')
      await shows('#messages', 'tok5 ')
      await shown().page.reload()
      await shows('#state', 'loading')
      await shows('#messages', 'tok59')
      await gate.open()
      await shows('#state', 'idle')
      expect(await messages()).toEqual(['human: hi', `ai: ${tokens(60)}`])
      const runs = await setup().client.runs.list(await threadId())
      expect(runs.map(({ status }) => status)).toEqual(['success'])
    })

    it('shows the error of a run', async () => {
      await open('tokens')
      await shown().page.click('#fail')
      await shows('#error', 'model failed on request')
      await shows('#state', 'idle')
    })

    it('shows an interrupt, and resumes it', async () => {
      await open('kinds')
      await shown().page.click('#ask')
      await shows('#interrupt', 'go on?')
      await shown().page.click('#resume')
      await shows('#answer', 'yes')
      await shows('#state', 'idle')
      expect(await text('#interrupt')).toBe('null')
    })
  })
})

function tokens(count: number): string {
  return Array.from({ length: count }, (_, i) => `tok${i} `).join('')
}
