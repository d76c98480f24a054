import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../../support/eventually.ts'
import { drained } from '../../../support/servers/server.ts'
import type { UsedWeir } from '../../../support/servers/use-weir.ts'
import type { UsedInterface } from '../../../support/servers/web-interface.ts'
import { signIn } from '../../../support/servers/web-interface.ts'
import { sendAgentTrace } from '../trace.ts'
import { inLong } from '../../../support/length.ts'

const STEPS = 25

/** Sends an agent of 25 steps, each a model call and a tool, of which the last one fails; returns the id of the trace. */
async function sendSteps(weir: UsedWeir): Promise<string> {
  const root = randomUUID()
  const start = Date.now() - 60_000
  const at = (ms: number): string => new Date(start + ms).toISOString()
  const shared = { trace_id: root, parent_run_id: root, session_name: 'long agents' }
  const steps = Array.from({ length: STEPS }, (_, n) => [
    {
      ...shared,
      id: randomUUID(),
      name: `think_${n + 1}`,
      run_type: 'llm',
      start_time: at(n * 1000 + 100),
      end_time: at(n * 1000 + 500),
      inputs: { messages: [{ role: 'user', content: `**Question** ${n + 1}` }] },
      outputs: { choices: [{ message: { role: 'assistant', content: 'line\n\n'.repeat(10) } }] },
    },
    {
      ...shared,
      id: randomUUID(),
      name: `search_${n + 1}`,
      run_type: 'tool',
      start_time: at(n * 1000 + 600),
      end_time: at(n * 1000 + 900),
      inputs: { query: `words ${n + 1}` },
      ...(n === STEPS - 1 ? { error: 'the search is down' } : { outputs: { found: n } }),
    },
  ]).flat()
  const { parent_run_id: _, ...ofRoot } = shared
  const post = [
    {
      ...ofRoot,
      id: root,
      name: 'long_agent',
      run_type: 'chain',
      start_time: at(0),
      end_time: at(46_000),
      inputs: {},
    },
    ...steps,
  ]
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ post })
  expect((await weir.request('/api/v1/runs/batch', { method: 'POST', headers, body })).status).toBe(202)
  await drained(weir)
  return root
}

/** Sends a crew of three agents, each with a model call and a search; the last search fails, and a call repeats why. */
async function sendCrew(weir: UsedWeir): Promise<string> {
  const root = randomUUID()
  const start = Date.now() - 60_000
  const time = (ms: number): string => new Date(start + ms).toISOString()
  const shared = { trace_id: root, session_name: 'crews' }
  const run = (name: string, run_type: string, [from, to]: [number, number], parent?: string) => ({
    ...shared,
    id: parent === undefined ? root : randomUUID(),
    ...(parent !== undefined && { parent_run_id: parent }),
    name,
    run_type,
    start_time: time(from),
    end_time: time(to),
    inputs: { query: name },
  })
  const call = (content: string, times: [number, number], parent: string) => ({
    ...run('think', 'llm', times, parent),
    inputs: { messages: [{ role: 'user', content }] },
    outputs: { choices: [{ message: { role: 'assistant', content: 'I search for it.' } }] },
  })
  const agents = [0, 1000, 2000].flatMap((at) => {
    const agent = run('agent', 'chain', [at, at + 900], root)
    const search = run('search', 'tool', [at + 200, at + 400], agent.id)
    const failed = { ...search, error: 'the search is down' }
    const again = call('the search is down', [at + 500, at + 600], agent.id)
    const begin = [agent, call(`where is it? ${at}`, [at, at + 100], agent.id)]
    return at < 2000 ? [...begin, search] : [...begin, failed, again]
  })
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ post: [run('crew', 'chain', [0, 3000]), ...agents] })
  expect((await weir.request('/api/v1/runs/batch', { method: 'POST', headers, body })).status).toBe(202)
  await drained(weir)
  return root
}

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

      it('follows the failed run and a chosen step in the messages of a long trace', async () => {
        const trace = await sendSteps(server.current())
        const { page, open, broken } = used.current()
        await open(`/traces/${trace}?view=messages`)
        const view = page.getByRole('region', { name: 'Messages of the trace' })
        await view.getByText('Step 1 of 25').waitFor()
        await view.locator('strong', { hasText: 'Question' }).first().waitFor()
        expect(await view.getByText('Question 25').count()).toBe(0)
        await page.keyboard.press('e')
        await page.locator('#run').getByRole('heading', { name: 'search_25' }).waitFor()
        const isSeen = async (name: string): Promise<void> => {
          const line = view.getByRole('button', { name })
          await eventually(async () => {
            const [outer, inner] = [await view.boundingBox(), await line.boundingBox()]
            expect(inner?.y ?? 0).toBeGreaterThanOrEqual(outer?.y ?? Number.POSITIVE_INFINITY)
            expect((inner?.y ?? 0) + (inner?.height ?? 0)).toBeLessThanOrEqual(
              (outer?.y ?? 0) + (outer?.height ?? 0),
            )
          })
        }
        await isSeen('search_25')
        await view.getByText('Step 25 of 25').waitFor()
        // The tool stands after its own call, and the view stays there when all calls are read.
        await view
          .locator('li', { hasText: 'Question 25' })
          .getByRole('button', { name: 'search_25' })
          .waitFor()
        await isSeen('search_25')
        expect(await broken()).toEqual([])
        await view.getByLabel('Step', { exact: true }).selectOption('3. think_3')
        await isSeen('think_3')
        await view.getByRole('button', { name: 'Next step' }).click()
        await page.locator('#run').getByRole('heading', { name: 'think_4' }).waitFor()
        await isSeen('think_4')
      })

      it('has panes and columns that can be resized and stay so, and an axis of whole times', async () => {
        const trace = await sendSteps(server.current())
        const { page, open, broken } = used.current()
        await open(`/traces/${trace}`)
        const edge = page.getByRole('separator', { name: 'Width of the tree' })
        const names = page.getByRole('separator', { name: 'Width of the names' })
        const widthOf = async (): Promise<number> => (await page.locator('#tree').boundingBox())?.width ?? 0
        const bars = async (): Promise<number> =>
          (await edge.boundingBox())!.x - (await names.boundingBox())!.x
        await edge.waitFor()
        await page.getByText('15 s', { exact: true }).waitFor()
        const [width, bar] = [await widthOf(), await bars()]
        await edge.focus()
        for (let n = 0; n < 5; n += 1) await page.keyboard.press('ArrowRight')
        expect(await edge.getAttribute('aria-valuenow')).toBe('65')
        expect(await widthOf()).toBeGreaterThan(width + 100)
        const box = (await names.boundingBox())!
        await page.mouse.move(box.x + box.width / 2, box.y + 5)
        await page.mouse.down()
        await page.mouse.move(box.x - 250, box.y + 5)
        await page.mouse.up()
        await eventually(async () => expect(await bars()).toBeGreaterThan(bar + 250))
        expect(await broken()).toEqual([])
        const after = [await widthOf(), await bars()]
        await page.reload()
        await edge.waitFor()
        expect([await widthOf(), await bars()]).toEqual(after)
        await names.dblclick()
        await edge.dblclick()
        expect([await widthOf(), await bars()]).toEqual([width, bar])
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

/** The graph of a trace, folding, and comments. The browser is signed in as an admin. */
function graphAndCommentTests({ server, used }: Used): void {
  describe('a trace of a crew', () => {
    it('has a graph that filters the tree, folds at once, and searches new texts before repeated ones', async () => {
      const trace = await sendCrew(server.current())
      const { page, open, broken } = used.current()
      await open(`/traces/${trace}`)
      const rows = page.getByRole('treegrid').getByRole('row')
      await eventually(async () => expect(await rows.count()).toBe(11))
      await page.getByRole('button', { name: 'Graph' }).click()
      const graph = page.getByRole('region', { name: 'Graph of the trace' })
      const node = (name: string) => graph.getByRole('button', { name: new RegExp(`^${name}`) })
      await node('search').getByText('× 3 · 1 failed').waitFor()
      await node('agent').getByText('× 3 · 2.7 s').waitFor()
      expect(await broken()).toEqual([])
      await node('search').click()
      await eventually(async () => expect(await rows.count()).toBe(7))
      expect(new URL(page.url()).searchParams.get('node')).toBe('tool search')
      await page.getByRole('button', { name: 'Graph', exact: true }).click()
      await graph.waitFor({ state: 'detached' })
      await eventually(async () => expect(await rows.count()).toBe(11))
      await page.getByRole('button', { name: 'Fold all' }).click()
      await eventually(async () => expect(await rows.count()).toBe(4))
      await page.getByRole('button', { name: 'Unfold all' }).click()
      await page.getByRole('button', { name: '1 failed' }).click()
      const failed = page.getByRole('listbox', { name: 'Failed runs' }).getByRole('option')
      await failed.getByText(/^crew › .*agent/).waitFor()
      expect(await failed.count()).toBe(1)
      expect(await broken()).toEqual([])
      await page.getByRole('button', { name: '1 failed' }).click()
      const field = page.getByRole('searchbox', { name: 'Find in the trace' })
      await field.fill('search is down')
      const matches = page.getByRole('status').filter({ hasText: /found|of/ })
      await matches.getByText('2 found (1 repeat)').waitFor()
      await field.press('Enter')
      await matches.getByText('1 of 2 (1 repeat)').waitFor()
      await page.locator('#run').getByRole('heading', { name: 'search' }).waitFor()
      await open(`/traces/${trace}?view=messages`)
      const view = page.getByRole('region', { name: 'Messages of the trace' })
      await view.getByText('where is it?').first().waitFor()
      await view.getByRole('button', { name: 'Fold all' }).click()
      await eventually(async () => expect(await view.getByText('where is it?').count()).toBeLessThan(2))
      expect(await broken()).toEqual([])
      await view.getByRole('button', { name: 'Unfold all' }).click()
      await eventually(async () => expect(await view.getByText('where is it?').count()).toBe(3))
    })

    it('COMMENT-1, COMMENT-2: has comments on its runs, which mention members and are changed by their authors', async () => {
      const weir = server.current()
      const trace = await sendCrew(weir)
      const ada = { email: 'ada@example.com', full_name: 'Ada Lovelace', role: 'user' }
      const { user_id } = await weir.json<{ user_id: string }>('/api/v1/orgs/current/members', ada)
      const { page, open, broken, browser } = used.current()
      await open(`/traces/${trace}`)
      const run = page.locator('#run')
      await run.getByText('Comments', { exact: true }).click()
      await run.getByRole('button', { name: 'Comment', exact: true }).click()
      const text = run.getByRole('textbox', { name: 'Comment' })
      await text.pressSequentially('Look, @ada')
      await run.getByRole('option', { name: 'Ada Lovelace' }).waitFor()
      expect(await broken()).toEqual([])
      await text.press('Enter')
      await text.pressSequentially('the search')
      expect(await text.inputValue()).toBe('Look, @Ada Lovelace the search')
      await run.getByRole('button', { name: 'Save' }).click()
      await run.locator('b', { hasText: '@Ada Lovelace' }).waitFor()
      await page.getByRole('treegrid').getByTitle('1 comment').waitFor()
      await run.getByRole('button', { name: 'Edit the comment' }).click()
      await text.fill('Look, @Ada Lovelace: the third search')
      await text.press('Control+Enter')
      await run.getByText('edited').waitFor()
      expect(await broken()).toEqual([])
      const token = { description: 'k', role: 'user', user_id }
      const { key } = await weir.json<{ key: string }>('/api/v1/orgs/current/personal-access-tokens', token)
      const other = await browser.newContext()
      const reader = await other.newPage()
      const request: UsedWeir['request'] = (path, init) =>
        fetch(weir.url + path, { ...init, headers: { 'content-type': 'application/json', 'x-api-key': key } })
      await signIn(reader, { ...weir, request })
      await reader.getByRole('button', { name: 'Mentions: new ones' }).click()
      const mention = reader.getByRole('dialog', { name: 'Mentions' }).getByRole('listitem')
      await mention.getByText('the third search').waitFor()
      await mention.getByRole('link').click()
      await reader.locator('#run').getByText('the third search').waitFor()
      expect(await reader.getByRole('button', { name: 'Edit the comment' }).count()).toBe(0)
      await other.close()
      await run.getByRole('button', { name: 'Delete the comment' }).click()
      await eventually(async () => expect(await page.getByTitle('1 comment').count()).toBe(0))
    })
  })
}

/** The critical path of a trace. The browser is signed in. */
export function moreTracePageTests({ server, used }: Used): void {
  graphAndCommentTests({ server, used })
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
