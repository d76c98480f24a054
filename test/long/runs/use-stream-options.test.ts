import { describe, expect, it } from 'vitest'
import { useDeployment } from '../../conformance/deployments/use-deployment.ts'
import { hasChromium, useHookPage, withoutChromium } from '../../conformance/langgraph/js/hook-page.ts'
import { newGate } from '../../support/runs/gate.ts'

describe.skipIf(!hasChromium)(`options of useStream of the SDK in a browser${withoutChromium}`, () => {
  const setup = useDeployment()
  const shown = useHookPage('options-page.mjs')
  const open = (graph: string, more: Record<string, string> = {}): Promise<void> =>
    shown().open({ url: setup().url, key: setup().weir.key, graph, ...more })
  const click = (id: string) => shown().page.click(`#${id}`)
  const shows = (id: string, text: string) => shown().shows(`#${id}`, text)

  it('fetchStateHistory has the states of the thread; an edited message is a branch, and the first one can be shown again', async () => {
    await open('tokens')
    await click('quick')
    await shows('history', 'states: 5')
    await shows('state', 'idle')
    await click('edit')
    await shows('branches', 'branches: 2')
    await shows('messages', 'human: edited')
    await shows('state', 'idle')
    await click('first')
    await shows('messages', 'human: hi')
    expect(await shown().messages()).toHaveLength(2)
    expect(await shown().text('#error')).toBe('')
  })

  it('onCustomEvent, onUpdateEvent, onMetadataEvent and onFinish are called', async () => {
    await open('kinds')
    await click('custom')
    await shows('events', '"finish":[]')
    const events = JSON.parse((await shown().text('#events')) ?? '') as object
    expect(events).toMatchObject({
      custom: { step: 1 },
      update: { finish: { log: ['finished'] } },
      metadata: { run_id: expect.any(String) as string },
    })
  })

  it('optimisticValues are shown until the run sends its own', async () => {
    await open('tokens')
    let send = (): void => undefined
    const sent = new Promise<void>((resolve) => (send = resolve))
    await shown().page.route('**/runs/stream', async (route) => {
      await sent
      await route.continue()
    })
    await click('optimistic')
    await shows('messages', 'human: not yet sent')
    send()
    await shows('messages', 'human: hi')
    await shows('state', 'idle')
    expect((await shown().messages())[0]).toBe('human: hi')
  })

  it('joinStream shows a run that somebody else has started; a page that leaves the thread shows nothing of it', async () => {
    const gate = await newGate()
    const { client } = setup()
    const { thread_id: thread } = await client.threads.create()
    const messages = [{ type: 'human', content: 'hi' }]
    const { run_id: run } = await client.runs.create(thread, 'tokens', {
      input: { messages, tokens: 10, gates: { finish: gate.file } },
      streamMode: ['values', 'messages-tuple'],
      streamResumable: true,
    })
    await open('tokens', { thread, run })
    await click('join')
    await shows('messages', 'tok9')
    await shows('state', 'loading')
    await gate.open()
    await shows('state', 'idle')
    await click('leave')
    await shows('history', 'states: 0')
    expect(await shown().messages()).toEqual([])
  })
})
