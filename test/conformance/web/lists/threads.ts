import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../../support/eventually.ts'
import { drained } from '../../../support/servers/server.ts'
import type { UsedWeir } from '../../../support/servers/use-weir.ts'
import type { UsedInterface } from '../../../support/servers/web-interface.ts'

interface Used {
  server: { current(): UsedWeir }
  used: { current(): UsedInterface }
}

const PROJECT = 'conversations'

type Said = Readonly<Record<string, unknown>>

const says = (role: string, content: string): Said => ({ role, content })
const CALL = { id: 'c', type: 'function', function: { name: 'lookup_order', arguments: '{"order_id":7}' } }
const MIDDLE = [
  { role: 'assistant', content: null, tool_calls: [CALL] },
  { role: 'tool', tool_call_id: 'c', content: 'it left the warehouse' },
]
const FIRST = [says('user', 'Where is my order?'), ...MIDDLE]
const SOON = says('assistant', 'It comes tomorrow.')
const SECOND = [...FIRST, SOON, says('user', 'At which hour?')]
const NOON = says('assistant', 'At noon.')

/** A turn of a thread: its root, and the model call below it. */
function turnOf(thread: string, start: number, input: readonly Said[], answer: Said) {
  const [root, call] = [randomUUID(), randomUUID()]
  const at = (id: string, rest: object) => ({
    id,
    trace_id: root,
    session_name: PROJECT,
    start_time: new Date(start + (id === root ? 0 : 100)).toISOString(),
    end_time: new Date(start + 900).toISOString(),
    ...rest,
  })
  return {
    root: at(root, {
      name: 'order_agent',
      run_type: 'chain',
      inputs: { question: input.findLast(({ role }) => role === 'user')?.['content'] },
      outputs: { answer: answer['content'] },
      extra: { metadata: { thread_id: thread } },
    }),
    call: at(call, {
      name: 'chat',
      run_type: 'llm',
      parent_run_id: root,
      inputs: { messages: input },
      outputs: { choices: [{ message: answer }] },
    }),
  }
}

/** A thread as a conversation. The browser is signed in. */
export function threadTests({ server, used }: Used): void {
  async function send(post: readonly object[]): Promise<void> {
    const weir = server.current()
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ post })
    const answer = await weir.request('/api/v1/runs/batch', { method: 'POST', headers, body })
    expect(answer.status).toBe(202)
    await drained(weir)
  }

  async function project(): Promise<string> {
    const [found] = await server.current().json<{ id: string }[]>(`/api/v1/sessions?name=${PROJECT}`)
    return found?.id ?? ''
  }

  const turns = () => used.current().page.locator('[data-row]')

  describe('a thread', () => {
    it('folds what is between a question and its answer, until a reader unfolds it', async () => {
      const now = Date.now() - 60_000
      const first = turnOf('folded', now, FIRST, SOON)
      const second = turnOf('folded', now + 10_000, SECOND, NOON)
      await send([first, second].flatMap(({ root, call }) => [root, call]))
      const { page, open, broken } = used.current()
      await open(`/projects/${await project()}?view=threads`)
      const row = page.getByRole('row', { name: 'folded' })
      await row.waitFor()
      for (const name of ['p50', 'p95']) await page.getByRole('columnheader', { name }).waitFor()
      expect(await row.getByText('900 ms').count()).toBe(2)
      await row.getByRole('link').click()
      await turns().nth(1).getByText('At noon.').waitFor()
      await turns().first().getByText('It comes tomorrow.').waitFor()
      await eventually(async () => expect(await page.getByText('Where is my order?').count()).toBe(1))
      const fold = turns().first().getByRole('button', { name: 'lookup_order' })
      const result = page.getByText('it left the warehouse')
      expect(await fold.getAttribute('aria-expanded')).toBe('false')
      expect(await result.count()).toBe(0)
      await fold.click()
      await result.waitFor()
      expect(await result.count()).toBe(1)
      expect(await broken()).toEqual([])
      await fold.click()
      await result.waitFor({ state: 'detached' })
      await page.getByRole('heading', { name: 'folded' }).click()
      await page.keyboard.press('j')
      await page.keyboard.press('Tab')
      expect(await page.evaluate('document.activeElement.textContent')).toBe('lookup_order')
      await page.keyboard.press('Enter')
      await result.waitFor()
      expect(await fold.getAttribute('aria-expanded')).toBe('true')
      await page.keyboard.press('Space')
      await result.waitFor({ state: 'detached' })
      await page.keyboard.press('j')
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Turn 2 · order_agent')
    })

    it('shows each question once, also where model calls arrive after the roots of their turns', async () => {
      const now = Date.now() - 60_000
      const first = turnOf('late', now, FIRST, SOON)
      const second = turnOf('late', now + 10_000, SECOND, NOON)
      await send([first.root, second.root, second.call])
      const { page, open } = used.current()
      await open(`/threads/late?project=${await project()}`)
      await turns().nth(1).getByText('At noon.').waitFor()
      await turns().first().getByText('Where is my order?').waitFor()
      await eventually(async () => expect(await page.getByText('Where is my order?').count()).toBe(1))
      expect(await turns().first().getByRole('button', { name: 'lookup_order' }).count()).toBe(0)
      await send([first.call])
      await turns().first().getByRole('button', { name: 'lookup_order' }).waitFor()
      expect(await page.getByText('Where is my order?').count()).toBe(1)
      expect(await turns().nth(1).getByText('At which hour?').count()).toBe(1)
    })
  })
}
