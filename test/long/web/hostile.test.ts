import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, RunTree } from 'langsmith'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { drained } from '../../support/servers/server.ts'
import { useWeir } from '../../support/servers/use-weir.ts'
import { ALL_HOSTILE, HOSTILE, HOSTILE_SVG, hostileEffects, NO_EFFECTS } from './hostile-texts.ts'
import { HAS_BROWSER, NO_BROWSER, signIn, useInterface } from '../../support/servers/web-interface.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Chromium goes through many pages.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

/** Every kind of content block, with hostile text in each field. */
function blocks(): unknown[] {
  const media = (url: string) => ({ type: 'image_url', image_url: { url } })
  return [
    ...HOSTILE.map((text) => ({ type: 'text', text })),
    media('https://spy.example/image.png'),
    media(`data:image/svg+xml;base64,${HOSTILE_SVG.toString('base64')}`),
    media('data:text/html;base64,PHNjcmlwdD5nbG9iYWxUaGlzLnB3bmVkPTE8L3NjcmlwdD4='),
    media('javascript:globalThis.pwned=1'),
    { type: 'input_audio', input_audio: { data: 'https://spy.example/a.wav', format: 'wav"><script>' } },
    { type: 'file', file: { file_data: 'https://spy.example/f', filename: ALL_HOSTILE.slice(0, 500) } },
    { type: ALL_HOSTILE.slice(0, 200), anything: HOSTILE },
  ]
}

describe.skipIf(!HAS_BROWSER)(`hostile traces and pages in the browser${NO_BROWSER}`, () => {
  const server = useWeir()
  const used = useInterface(server, ['--host-resolver-rules=MAP rebound.example 127.0.0.1'])
  let ids = { project: '', trace: '', call: '', share: '' }

  beforeAll(async () => {
    const weir = server.current()
    const client = new Client({ apiUrl: weir.url, apiKey: weir.key })
    const hostile = Object.fromEntries(HOSTILE.map((text) => [text, text]))
    const root = new RunTree({
      name: ALL_HOSTILE.slice(0, 200),
      run_type: 'chain',
      client,
      project_name: HOSTILE[0] ?? '',
      inputs: { ...hostile, deep: [[hostile]] },
      tags: HOSTILE.slice(0, 4),
      metadata: { ...hostile, thread_id: HOSTILE[0] ?? '' },
      attachments: { picture: ['image/svg+xml', HOSTILE_SVG], page: ['text/html', Buffer.from(ALL_HOSTILE)] },
    })
    await root.postRun()
    const call = root.createChild({
      name: HOSTILE[1] ?? '',
      run_type: 'llm',
      inputs: { messages: [{ role: 'user', content: blocks() }] },
      metadata: { ls_provider: HOSTILE[0] ?? '', ls_model_name: HOSTILE[1] ?? '', ...hostile },
    })
    await call.postRun()
    const calls = HOSTILE.map((text, at) => ({
      id: `${text}${at}`,
      type: 'function',
      function: { name: text, arguments: JSON.stringify(hostile) },
    }))
    await call.end({ choices: [{ message: { role: 'assistant', content: ALL_HOSTILE, tool_calls: calls } }] })
    await call.patchRun()
    const retriever = root.createChild({ name: 'search', run_type: 'retriever', inputs: { q: ALL_HOSTILE } })
    await retriever.postRun()
    await retriever.end({ documents: HOSTILE.map((text) => ({ page_content: text, metadata: hostile })) })
    await retriever.patchRun()
    await root.end(hostile, ALL_HOSTILE)
    await root.patchRun()
    await client.awaitPendingTraceBatches()
    await drained(weir)
    const { session_id } = await weir.json<{ session_id: string }>(`/api/v1/runs/${root.id}`)
    await weir.json('/api/v1/feedback', {
      run_id: root.id,
      key: HOSTILE[0],
      value: ALL_HOSTILE,
      comment: ALL_HOSTILE,
      correction: hostile,
    })
    const { share_token } = await weir.json<{ share_token: string }>(`/api/v2/runs/${root.id}/share`, {
      session_id,
      trace_id: root.id,
    })
    ids = { project: session_id, trace: root.id, call: call.id, share: share_token }
    await signIn(used.current().page, weir)
  })

  it('every screen shows it as text: nothing runs, nothing is loaded, the policy has nothing to report', async () => {
    const { page, open, faults } = used.current()
    const thread = encodeURIComponent(HOSTILE[0] ?? '')
    const screens = [
      ['/projects', 'onerror'],
      [`/projects/${ids.project}?view=runs&cols=name,input,output,tags,feedback,model,thread`, 'onerror'],
      [`/projects/${ids.project}?view=threads`, 'onerror'],
      [`/threads/${thread}?project=${ids.project}`, 'onerror'],
      [`/traces/${ids.trace}`, 'Feedback'],
      [`/traces/${ids.trace}?run=${ids.call}`, 'Output'],
      [`/traces/${ids.trace}?view=messages`, 'assistant'],
      [`/compare?a=${ids.call}&b=${ids.trace}`, 'Parameters and metadata'],
      [`/public/${ids.share}/r?run=${ids.call}`, 'Output'],
      [`/playground?from=${ids.call}`, 'Source run'],
    ] as const
    for (const [path, sign] of screens) {
      await open(path)
      await page.getByText(sign).first().waitFor()
      expect([path, await hostileEffects(page)]).toEqual([path, NO_EFFECTS])
    }
    expect(faults).toEqual([])
  })

  describe('a page on another port of the same host', () => {
    let other: Server
    let origin = ''
    beforeAll(async () => {
      other = createServer((_, res) => res.setHeader('content-type', 'text/html').end('<p>other</p>'))
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
      origin = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    })
    afterAll(() => void other.close())

    it('reads and changes nothing with the cookie of the session, and cannot frame the interface', async () => {
      const { page } = used.current()
      const { url, json } = server.current()
      const tab = await page.context().newPage()
      await tab.goto(origin)
      const tried = await tab.evaluate(
        async ([weir, trace]) => {
          const read = async (path: string, init: RequestInit): Promise<string> =>
            await fetch(weir + path, { credentials: 'include', ...init }).then(
              async (answer) => `${answer.type} ${(await answer.text()).length}`,
              () => 'refused',
            )
          const text = { 'content-type': 'text/plain' }
          return [
            await read('/api/v1/sessions', {}),
            await read('/api/v1/sessions', { mode: 'no-cors' }),
            await read(`/api/v1/live?topic=trace:${trace}`, {}),
            await read('/api/v1/feedback', {
              method: 'POST',
              mode: 'no-cors',
              headers: text,
              body: `{"run_id":"${trace}","key":"evil"}`,
            }),
            await read(`/api/v1/runs/${trace}/share`, { method: 'DELETE' }),
            await read('/api/v1/auth/session', { method: 'DELETE', mode: 'no-cors' }),
          ]
        },
        [url, ids.trace] as const,
      )
      for (const outcome of tried) expect(['refused', 'opaque 0']).toContain(outcome)
      await tab.setContent(`<iframe src="${url}/app/projects"></iframe>`)
      const frame = tab.frames().find((one) => one !== tab.mainFrame())
      await frame?.waitForLoadState().catch(() => undefined)
      expect(
        await frame
          ?.locator('main')
          .count()
          .catch(() => 0),
      ).toBe(0)
      await tab.close()
      expect(await json<unknown>(`/api/v1/runs/${ids.trace}/share`)).toMatchObject({ share_token: ids.share })
      const feedback = await json<{ key: string }[]>(`/api/v1/feedback?run=${ids.trace}`)
      expect(feedback.map(({ key }) => key)).not.toContain('evil')
      const still = await page.evaluate(async () => (await fetch('/api/v1/auth/session')).status)
      expect(still).toBe(200)
    })
  })

  it('a host name that was rebound to this address gets nothing', async () => {
    const { browser } = used.current()
    const { port } = new URL(server.current().url)
    const context = await browser.newContext()
    const tab = await context.newPage()
    await tab.goto(`http://rebound.example:${port}/app/`)
    const answers = await tab.evaluate(async (key) => {
      const status = async (path: string, init: RequestInit): Promise<number> =>
        (await fetch(path, init)).status
      return [
        await status('/api/v1/sessions', {}),
        await status('/api/v1/auth/session', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ key }),
        }),
      ]
    }, server.current().key)
    expect(answers).toEqual([401, 421])
    await context.close()
  })
})
