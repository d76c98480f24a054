import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../../support/eventually.ts'
import { drained } from '../../../support/servers/server.ts'
import type { UsedWeir } from '../../../support/servers/use-weir.ts'
import type { UsedInterface } from '../../../support/servers/web-interface.ts'
import { checkLooks } from '../accessibility.ts'
import { inLong } from '../../../support/length.ts'

const ARABIC = 'أين طلبي؟ أريد استرداد المبلغ.'
const REPORT = `# Findings\n\nThe parcel is **late**.\n\n${'It was sent on Monday. '.repeat(12)}`
const ANSWER = 'The parcel comes tomorrow.'

const JSON_TYPE = { 'content-type': 'application/json' }

type Run = Record<string, unknown>

async function send(weir: UsedWeir, post: readonly Run[]): Promise<void> {
  const answer = await weir.request('/api/v1/runs/batch', {
    method: 'POST',
    headers: JSON_TYPE,
    body: JSON.stringify({ post }),
  })
  expect(answer.status).toBe(202)
  await drained(weir)
}

interface Turn {
  root: string
  thread_id: string
  /** Messages of each model call, and what it answered. */
  calls: readonly (readonly [asked: readonly Run[], answer: Run])[]
  at: number
}

const user = (content: string): Run => ({ role: 'user', content })
const assistant = (content: string): Run => ({ role: 'assistant', content })

/** A turn of a thread: a root that starts in the same millisecond as its first model call, which comes before it. */
function turnOf({ root, thread_id, calls, at }: Turn): Run[] {
  const time = (ms: number): string => new Date(at + ms).toISOString()
  const shared = { trace_id: root, session_name: 'parcels', extra: { metadata: { thread_id } } }
  const models = calls.map(([messages, message], n): Run => {
    const metadata = { thread_id, ls_provider: 'openai', ls_model_name: n === 0 ? 'gpt-4.1-mini' : 'own-7b' }
    return {
      ...shared,
      id: randomUUID(),
      parent_run_id: root,
      name: `call_${n + 1}`,
      run_type: 'llm',
      start_time: time(n * 100),
      end_time: time(n * 100 + 90),
      extra: { metadata },
      inputs: { messages },
      outputs: {
        choices: [{ message }],
        usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
      },
    }
  })
  const whole: Run = {
    ...shared,
    id: root,
    name: 'parcel_agent',
    run_type: 'chain',
    start_time: time(0),
    end_time: time(900),
    inputs: { messages: [user(ARABIC)] },
    outputs: { report: REPORT },
  }
  return [...models, whole]
}

/** Two turns, of which the second does not send the messages of tools of the first again; returns the first trace and the thread. */
async function sendTurns(weir: UsedWeir): Promise<{ trace: string; thread_id: string }> {
  const [first, thread_id] = [randomUUID(), randomUUID()]
  const at = Date.now() - 60_000
  const call = { id: 'c1', type: 'function', function: { name: 'track', arguments: '{"id":7}' } }
  const asks: Run = { role: 'assistant', content: null, tool_calls: [call] }
  const result: Run = { role: 'tool', tool_call_id: 'c1', content: 'on its way' }
  const question = user(ARABIC)
  await send(weir, [
    ...turnOf({
      root: first,
      thread_id,
      at,
      calls: [
        [[question], asks],
        [[question, asks, result], assistant(ANSWER)],
      ],
    }),
    ...turnOf({
      root: randomUUID(),
      thread_id,
      at: at + 10_000,
      calls: [[[question, assistant(ANSWER), user('Thanks. And the other one?')], assistant('It is here.')]],
    }),
  ])
  return { trace: first, thread_id }
}

interface Used {
  server: { current(): UsedWeir }
  used: { current(): UsedInterface }
}

/** Faults that a review of the interface found; the numbers are those of the review. The browser is signed in. */
export function defectTests({ server, used }: Used): void {
  inLong(() => {
    describe('a trace and its thread', () => {
      it('opens with its root (22), shows messages and Markdown (19) and each text in its own direction (9)', async () => {
        const { trace } = await sendTurns(server.current())
        const { page, open, broken } = used.current()
        await open(`/traces/${trace}`)
        const run = page.locator('#run')
        await run.getByRole('heading', { name: 'parcel_agent' }).waitFor()
        await run.locator('strong', { hasText: 'late' }).waitFor()
        await run.getByText(ARABIC).first().waitFor()
        // The full stop ends the sentence at its left side.
        const [begin, end] = await page.evaluate<[number, number]>(`(() => {
          const walk = document.createTreeWalker(document.querySelector('#run'), NodeFilter.SHOW_TEXT)
          let text = walk.nextNode()
          while (!text.data.includes('${ARABIC}')) text = walk.nextNode()
          const from = text.data.indexOf('${ARABIC}')
          const at = (place) => {
            const range = document.createRange()
            range.setStart(text, place)
            range.setEnd(text, place + 1)
            return range.getBoundingClientRect().x
          }
          return [at(from), at(from + ${ARABIC.length - 1})]
        })()`)
        expect(end).toBeLessThan(begin)
        expect(await broken()).toEqual([])
      })

      it('does not say an answer twice in its thread (14), and has costs of chains where it is shared (27)', async () => {
        const { json, request } = server.current()
        const { trace, thread_id } = await sendTurns(server.current())
        const { page, open, browser } = used.current()
        const [project] = await json<{ id: string }[]>('/api/v1/sessions?name=parcels')
        await open(`/threads/${thread_id}?project=${project?.id}`)
        await page.getByText('It is here.').first().waitFor()
        await eventually(async () => expect(await page.getByText(ANSWER).count()).toBe(1))
        const path = `/api/v1/runs/${trace}/share`
        const shared = await request(path, { method: 'PUT', headers: JSON_TYPE, body: '{}' })
        const { share_token } = (await shared.json()) as { share_token: string }
        const other = await browser.newContext()
        const reader = await other.newPage()
        await reader.goto(`${server.current().url}/public/${share_token}/r`)
        const row = reader.getByRole('row', { name: /^parcel_agent/ })
        await row.getByText('$0.0006').waitFor()
        await other.close()
      })

      it('names calls without a price in the costs of the usage page, where axe finds no fault (26)', async () => {
        await sendTurns(server.current())
        const { page, open } = used.current()
        await eventually(async () => {
          await open('/usage?of=cost&t=1d&by=project')
          await page
            .getByText(/calls? without a price/)
            .first()
            .waitFor({ timeout: 5000 })
        })
        await checkLooks(used.current(), 'costs without prices')
        await page.emulateMedia({ colorScheme: 'dark' })
        await page.setViewportSize({ width: 1440, height: 900 })
      })
    })
  })
}
