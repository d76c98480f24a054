import { randomUUID } from 'node:crypto'
import { Client, RunTree, type RunTreeConfig } from 'langsmith'
import { describe, expect, it } from 'vitest'
import { drained } from '../../support/servers/server.ts'
import { eventually } from '../../support/eventually.ts'
import type { UsedWeir } from '../../support/servers/use-weir.ts'
import type { UsedInterface } from '../../support/servers/web-interface.ts'

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC'
const PROJECT = 'complaints'
const LARGE_TRACE = 5000
const METADATA = { ls_provider: 'anthropic', ls_model_name: 'claude-sonnet-4-5' }

interface Used {
  server: { current(): UsedWeir }
  used: { current(): UsedInterface }
}

/** Registers a test for each complaint that users of other tools have made in public. The browser is signed in. */
export function complaintTests({ server, used }: Used): void {
  async function send(config: RunTreeConfig, outputs: Record<string, unknown>): Promise<RunTree> {
    const client = new Client({ apiUrl: server.current().url, apiKey: server.current().key })
    const run = new RunTree({ client, project_name: PROJECT, ...config })
    await run.postRun()
    await run.end(outputs)
    await run.patchRun()
    await client.awaitPendingTraceBatches()
    await drained(server.current())
    return run
  }

  async function openRun(run: RunTree): Promise<ReturnType<UsedInterface['page']['locator']>> {
    const { page, open } = used.current()
    await open(`/traces/${run.trace_id}?run=${run.id}`)
    const panel = page.locator('#run')
    await panel.getByRole('heading', { name: run.name }).waitFor()
    return panel
  }

  async function projectId(): Promise<string> {
    const [project] = await server.current().json<{ id: string }[]>(`/api/v1/sessions?name=${PROJECT}`)
    return project?.id ?? ''
  }

  const call = (name: string, content: unknown): RunTreeConfig => ({
    name,
    run_type: 'llm',
    metadata: METADATA,
    inputs: { messages: [{ role: 'user', content }] },
  })

  describe('complaints about other tools', () => {
    it('big traces freeze, every row in the document (langfuse #10581, #10211, phoenix #3917, mlflow #25166): a few rows are', async () => {
      const ids = Array.from({ length: LARGE_TRACE }, () => randomUUID())
      const [trace_id] = ids
      const start = Date.now() - LARGE_TRACE
      const post = ids.map((id, place) => ({
        id,
        trace_id,
        name: `step ${place}`,
        run_type: 'tool',
        session_name: PROJECT,
        inputs: { place },
        start_time: new Date(start + place).toISOString(),
        end_time: new Date(start + place + 1).toISOString(),
        ...(place > 0 && { parent_run_id: trace_id }),
      }))
      const answer = await server.current().request('/api/v1/runs/batch', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ post, patch: [] }),
      })
      expect(answer.status).toBe(202)
      await drained(server.current())
      const { page, open } = used.current()
      await open(`/traces/${trace_id}`)
      const rows = page.getByRole('treegrid').getByRole('row')
      await rows.nth(5).waitFor()
      await page.keyboard.press('End')
      await page
        .locator('#run')
        .getByRole('heading', { name: `step ${LARGE_TRACE - 1}` })
        .waitFor()
      expect(await rows.count()).toBeLessThan(100)
    })

    it('base64 shown as text (langfuse #9933): a picture is drawn', async () => {
      const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }
      const panel = await openRun(
        await send(call('picture', [image]), { role: 'assistant', content: 'Red.' }),
      )
      await panel.getByRole('img', { name: /image, image\/png/ }).waitFor()
      expect(await panel.innerText()).not.toContain(PNG.slice(0, 40))
    })

    it('reasoning dropped, unknown blocks dropped, one message spoils the page (langfuse #17805, #13292, agent-chat-ui #216, phoenix #4912)', async () => {
      const content = [
        { type: 'thinking', thinking: 'I weigh both sides.' },
        { type: 'hologram', beam: { color: 'green' } },
        { type: 'text', text: 'Both are fine.' },
      ]
      const panel = await openRun(await send(call('blocks', 'Which one?'), { role: 'assistant', content }))
      await panel.getByText(/^Reasoning/).click()
      for (const text of ['I weigh both sides.', 'hologram', 'green', 'Both are fine.', 'Which one?'])
        await panel.getByText(text).first().waitFor()
    })

    it(String.raw`\n and \uXXXX shown escaped (langfuse #8072, #13223): texts are shown as texts`, async () => {
      const run = { name: 'escaped', run_type: 'chain', inputs: { note: 'first\nsecond \u65e5\u672c\u8a9e' } }
      const panel = await openRun(await send(run, { ok: true }))
      await eventually(async () => expect(await panel.innerText()).toContain('first\nsecond 日本語'))
      expect(await panel.innerText()).not.toContain(String.raw`\n`)
    })

    it('search finds English only (langfuse #11538): Chinese, Japanese and Arabic are found', async () => {
      for (const text of ['上海的天气怎么样', 'とても暑いです', 'كيف الطقس اليوم'])
        await send({ name: `asks ${text.slice(0, 2)}`, run_type: 'chain', inputs: { text } }, {})
      const { page, open } = used.current()
      for (const word of ['天气', '暑い', 'الطقس']) {
        await open(`/projects/${await projectId()}?view=runs`)
        await page.getByRole('combobox', { name: 'Search or filter' }).fill(word)
        await page.keyboard.press('Enter')
        const rows = page.locator('[data-run]')
        await eventually(async () => expect([word, await rows.count()]).toEqual([word, 1]))
        expect(await rows.innerText()).toContain(word)
      }
    })

    it('filters vanish, a shared link shows something else (langfuse #10955, #14521): the address is the state', async () => {
      const { page, open } = used.current()
      const filter = encodeURIComponent('eq(name, "escaped")')
      await open(`/projects/${await projectId()}?view=runs&q=${filter}&cols=name,cost`)
      await page.getByRole('link', { name: 'escaped' }).click()
      await page.getByRole('treegrid').waitFor()
      await page.goBack()
      await page.getByText('name = escaped').waitFor()
      await page.locator('[data-run]').first().waitFor()
      const address = page.url()
      const heads = await page.getByRole('columnheader').allInnerTexts()
      await page.goto('about:blank')
      await page.goto(address)
      await page.getByText('name = escaped').waitFor()
      await page.locator('[data-run]').first().waitFor()
      expect(await page.locator('[data-run]').count()).toBe(1)
      expect(await page.getByRole('columnheader').allInnerTexts()).toEqual(heads)
    })

    it('cached tokens unpriced, parts are not the total (langfuse #2491, #17148, opik #4114): they add up', async () => {
      const usage = { input_tokens: 100, output_tokens: 20, cache_read_input_tokens: 900 }
      const answer = { role: 'assistant', content: [{ type: 'text', text: 'Hi' }], usage }
      const panel = await openRun(await send(call('cached', 'Hi'), answer))
      await panel.getByRole('row', { name: /of which cache read/ }).waitFor()
      await panel.getByText('The amounts add up to the total exactly.').waitFor()
    })

    it('j and k load nothing, no keys in the tree, indentation lost (langfuse #8568, traceroot #1274, langsmith-sdk #1811)', async () => {
      const client = new Client({ apiUrl: server.current().url, apiKey: server.current().key })
      const root = new RunTree({ name: 'root', run_type: 'chain', client, project_name: PROJECT, inputs: {} })
      await root.postRun()
      const child = root.createChild({ name: 'child', run_type: 'tool', inputs: { city: 'Paris' } })
      await child.postRun()
      await child.end({ found: 'sunny' })
      await child.patchRun()
      await root.end({})
      await root.patchRun()
      await client.awaitPendingTraceBatches()
      await drained(server.current())
      const panel = await openRun(root)
      const { page } = used.current()
      await page.keyboard.press('j')
      await panel.getByText('sunny').waitFor()
      const levels = page.getByRole('treegrid').getByRole('row')
      expect(await levels.nth(1).getAttribute('aria-level')).toBe('2')
      await page.keyboard.press('k')
      await panel.getByRole('heading', { name: 'root' }).waitFor()
    })
  })
}
