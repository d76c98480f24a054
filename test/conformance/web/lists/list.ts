import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../../support/eventually.ts'
import { drained } from '../../../support/servers/server.ts'
import type { UsedWeir } from '../../../support/servers/use-weir.ts'
import type { UsedInterface } from '../../../support/servers/web-interface.ts'
import { inLong } from '../../../support/length.ts'

interface Used {
  server: { current(): UsedWeir }
  used: { current(): UsedInterface }
}

const PROJECT = 'support'
const UNPRICED = { ls_provider: 'own', ls_model_name: 'house-model-7b-ft' }

const ASKED = 'The box was **empty** when it arrived.'
const ANSWERED = 'I am sorry about the box.'
const LOOKUP = {
  function: { name: 'lookup_order', arguments: '{"order_id":11536}' },
  id: 'c',
  type: 'function',
}

/** Runs of one trace: an agent with a model call whose model has no price, and a tool. */
function supportTrace(start: number, { topic, fails }: { topic: string; fails: boolean }) {
  const [root, call, tool] = [randomUUID(), randomUUID(), randomUUID()]
  // Runs that start at the same time are in the order of their ids, which are random.
  const after_ms = { [root]: 0, [call]: 100, [tool]: 500 }
  const at = (id: string, name: string, run_type: string, rest: object) => ({
    id,
    name,
    run_type,
    trace_id: root,
    session_name: PROJECT,
    start_time: new Date(start + (after_ms[id] ?? 0)).toISOString(),
    end_time: new Date(start + 900).toISOString(),
    ...(id !== root && { parent_run_id: root }),
    ...rest,
  })
  const messages = [{ role: 'user', content: `${ASKED} ${topic}` }]
  const answer = { role: 'assistant', content: ANSWERED }
  return [
    at(root, `${topic}_agent`, 'chain', {
      inputs: { messages },
      outputs: { messages: [...messages, answer] },
    }),
    at(call, 'chat', 'llm', {
      inputs: { messages },
      outputs: {
        choices: [{ message: { role: 'assistant', content: null, tool_calls: [LOOKUP] } }],
        usage: { prompt_tokens: 90, completion_tokens: 9, total_tokens: 99 },
      },
      extra: { metadata: UNPRICED },
    }),
    at(tool, 'lookup_order', 'tool', {
      inputs: { order_id: 11536 },
      ...(fails ? { error: '503 Service Unavailable' } : { outputs: { state: 'shipped' } }),
    }),
  ]
}

/** The list of traces, and what a trace keeps of the list from which it was opened. The browser is signed in. */
export function listTests({ server, used }: Used): void {
  let path: string | undefined

  async function sent(): Promise<string> {
    if (path !== undefined) return path
    const weir = server.current()
    const now = Date.now()
    const post = [
      ...supportTrace(now - 40_000, { topic: 'refund', fails: false }),
      ...supportTrace(now - 30_000, { topic: 'invoice', fails: false }),
      ...supportTrace(now - 20_000, { topic: 'refund', fails: true }),
    ]
    const headers = { 'content-type': 'application/json' }
    const answer = await weir.request('/api/v1/runs/batch', {
      method: 'POST',
      headers,
      body: JSON.stringify({ post }),
    })
    expect(answer.status).toBe(202)
    await drained(weir)
    const [project] = await weir.json<{ id: string }[]>(`/api/v1/sessions?name=${PROJECT}`)
    path = `/projects/${project?.id}`
    return path
  }

  const rows = () => used.current().page.locator('[data-run]')
  const REFUNDS = `q=${encodeURIComponent('eq(name, "refund_agent")')}`

  describe('the list of traces', () => {
    it('shows what was asked and answered as text, what failed below the root, and that a price is missing', async () => {
      const { page, open, broken } = used.current()
      await open(await sent())
      await rows().nth(2).waitFor()
      const row = rows().first()
      for (const text of ['The box was empty when it arrived. refund', ANSWERED, 'no price'])
        await row.getByText(text).waitFor()
      expect(await row.getByText(ANSWERED).getAttribute('title')).toBe(ANSWERED)
      await row.getByRole('img', { name: 'success, but 1 below it failed' }).waitFor()
      await rows().nth(1).getByRole('img', { name: 'success', exact: true }).waitFor()
      const heads = await page.getByRole('columnheader').allInnerTexts()
      expect(heads).toContain('Failed')
      for (const empty of ['First token', 'Checks', 'Model']) expect(heads).not.toContain(empty)
      expect(await broken()).toEqual([])
      await row.getByRole('link', { name: 'lookup_order' }).click()
      const failed = page.getByRole('listbox', { name: 'Failed runs' })
      const tool = failed.getByRole('option', { selected: true })
      await tool.getByText('refund_agent', { exact: true }).waitFor()
      await tool.getByText('503 Service Unavailable').waitFor()
      await page.locator('#run').getByRole('heading', { name: 'lookup_order' }).waitFor()
      await page.getByLabel('Place of the trace').getByRole('link', { name: PROJECT }).waitFor()
      expect(await page.getByLabel('Pages').locator('[aria-current]').allInnerTexts()).toEqual(['Projects'])
      await page.getByRole('button', { name: 'Show all runs' }).click()
      const tree = page.getByRole('treegrid').getByRole('row')
      await eventually(async () => expect(await tree.count()).toBe(3))
      await tree.filter({ hasText: 'chat' }).getByText('no price').waitFor()
      await page.getByText('cost no price').waitFor()
      await tree.filter({ hasText: '→ lookup_order(order_id: 11536)' }).waitFor()
      await tree.filter({ hasText: '503 Service Unavailable' }).waitFor()
    })

    it('marks a cost without some calls where projects, threads and groups are listed, too', async () => {
      const { page, open, broken } = used.current()
      const project = await sent()
      await open(`/projects?q=${PROJECT}`)
      await page.getByRole('row', { name: PROJECT }).getByText('no price').waitFor()
      await open(`${project}?view=overview&t=today&of=llm&by=model`)
      const groups = page.getByRole('region', { name: 'Groups' })
      await groups.getByRole('row').nth(1).getByRole('link', { name: 'no price' }).waitFor()
      await page.getByLabel('Range').selectOption('yesterday')
      await page.getByText('No run of this range').waitFor()
      expect(await broken()).toEqual([])
    })

    it('shows the marked run in a panel that follows j and k, below the figures of the whole list', async () => {
      const { page, open, broken } = used.current()
      await open(`${await sent()}?${REFUNDS}`)
      await eventually(async () => expect(await rows().count()).toBe(2))
      const figures = page.getByLabel('Figures of the list')
      await figures.getByText('no price').waitFor()
      expect(await figures.innerText()).toMatch(
        /Traces\s+2[^]*Error rate\s+0%[^]*p95\s+900 ms[^]*Tokens\s+198/,
      )
      await page.keyboard.press('j')
      await page.keyboard.press('Space')
      const panel = page.getByRole('region', { name: 'The marked run' })
      await panel.getByRole('region', { name: 'Steps' }).getByText('503 Service Unavailable').waitFor()
      await panel.getByRole('region', { name: 'Input' }).getByText('when it arrived. refund').waitFor()
      await panel.getByText(ANSWERED).waitFor()
      await panel.getByText('as in the input').waitFor()
      expect(await broken()).toEqual([])
      const newest = new URL(page.url()).searchParams.get('peek')
      await page.keyboard.press('j')
      await panel.getByRole('region', { name: 'Steps' }).getByText('→ lookup_order').waitFor()
      expect(await panel.getByText('503 Service Unavailable').count()).toBe(0)
      expect(new URL(page.url()).searchParams.get('peek')).not.toBe(newest)
      await rows().first().getByText('The box was empty').click()
      await panel.getByText('503 Service Unavailable').waitFor()
      await page.keyboard.press('Escape')
      await panel.waitFor({ state: 'detached' })
      await page.keyboard.press('Enter')
      await page.getByRole('treegrid').waitFor()
    })

    it('saves a view, opens it again, exports what it shows, and gives feedback to several traces or deletes them', async () => {
      const { page, open, broken } = used.current()
      const path = await sent()
      await open(`${path}?${REFUNDS}&cols=name,input,feedback`)
      await eventually(async () => expect(await rows().count()).toBe(2))
      const views = page.getByRole('group', { name: 'Views' })
      await page.getByRole('button', { name: 'Views' }).click()
      await views.getByLabel('Name of the view').fill('refunds')
      await views.getByRole('button', { name: 'Save' }).click()
      await views.getByRole('link', { name: 'refunds' }).waitFor()
      expect(await broken()).toEqual([])
      await open(path)
      await rows().nth(2).waitFor()
      await page.getByRole('button', { name: 'Views' }).click()
      await views.getByRole('list', { name: 'Filters before' }).getByText('name = refund_agent').waitFor()
      await views.getByRole('link', { name: 'refunds' }).click()
      await eventually(async () => expect(await rows().count()).toBe(2))
      await page.getByRole('columnheader', { name: 'Input' }).waitFor()

      await page.getByRole('button', { name: 'Export' }).click()
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('dialog').getByRole('button', { name: 'Save the file' }).click(),
      ])
      const pieces: Buffer[] = await (await file.createReadStream()).toArray()
      expect(Buffer.concat(pieces).toString('utf8').trim().split('\r\n')).toHaveLength(3)
      await page.getByRole('button', { name: 'Export' }).click()
      await page.getByRole('dialog').getByLabel('Form').selectOption('parquet')
      const [table] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('dialog').getByRole('button', { name: 'Save the file' }).click(),
      ])
      expect(table.suggestedFilename()).toMatch(/^traces_[\d-]+\.parquet$/)
      const bytes = Buffer.concat(await (await table.createReadStream()).toArray())
      expect([bytes.subarray(0, 4), bytes.subarray(-4)].map(String)).toEqual(['PAR1', 'PAR1'])

      await page.getByLabel('Select the first 100 of the list').check()
      const selected = page.getByRole('region', { name: 'Selected runs' })
      await selected.getByText('2 selected').waitFor()
      await selected.getByRole('button', { name: 'Compare the two' }).waitFor()
      await selected.getByRole('button', { name: 'Add feedback' }).click()
      const form = page.getByRole('form', { name: 'Feedback on 2 runs' })
      await form.getByLabel('Key').fill('seen')
      await form.getByLabel('Score').fill('1')
      await form.getByRole('button', { name: 'Save' }).click()
      await eventually(async () => expect(await rows().getByText('seen 1').count()).toBe(2))
      expect(await broken()).toEqual([])
    })

    it('says what differs in the selected traces, and in a range of times, and narrows the list to it', async () => {
      const { page, open, broken } = used.current()
      const path = await sent()
      await open(path)
      await rows().nth(2).waitFor()
      for (const row of [0, 2])
        await page
          .getByLabel('Tick refund_agent')
          .nth(row / 2)
          .check()
      await page.locator('input:indeterminate').waitFor()
      expect(await page.getByLabel('Select the first 100 of the list').isChecked()).toBe(false)
      const bar = page.getByRole('region', { name: 'Selected runs' })
      await bar.getByRole('button', { name: 'What differs' }).click()
      const panel = page.getByRole('dialog', { name: 'What differs in these traces' })
      const line = panel.getByRole('link', { name: /Name\s*refund_agent\s*selected\s*100%\s*others\s*0%/ })
      await line.waitFor()
      await panel.getByText('Traces: 2 selected, 1 others of the list').waitFor()
      expect(await broken()).toEqual([])
      await page.setViewportSize({ width: 390, height: 844 })
      await page.emulateMedia({ colorScheme: 'dark' })
      expect(await broken()).toEqual([])
      await page.emulateMedia({ colorScheme: 'light' })
      await page.setViewportSize({ width: 1440, height: 900 })
      await line.click()
      await panel.waitFor({ state: 'detached' })
      await page.getByText('name = refund_agent').waitFor()
      await eventually(async () => expect(await rows().count()).toBe(2))
      await open(path)
      await page.getByRole('region', { name: 'Traces in time' }).locator('rect[data-series]').first().click()
      await eventually(async () => expect(await rows().count()).toBeLessThan(3))
      await page.getByRole('button', { name: 'What differs' }).click()
      const range = page.getByRole('dialog', { name: 'What differs in this range' })
      await range.getByText(/Traces: [12] selected, [12] others of the list/).waitFor()
      expect(await broken()).toEqual([])
      await page.keyboard.press('Escape')
    })

    inLong(() => {
      it('narrows the list to a value of a field beside it, and to another one', async () => {
        const { page, open, broken } = used.current()
        await open(await sent())
        await rows().nth(2).waitFor()
        await page.getByRole('button', { name: 'Values' }).click()
        const values = page.getByRole('region', { name: 'Values of the list' })
        await values.getByRole('link', { name: 'refund_agent 2' }).click()
        await eventually(async () => expect(await rows().count()).toBe(2))
        await eventually(async () => expect(await page.locator('[aria-busy="true"]').count()).toBe(0))
        expect(await broken()).toEqual([])
        await values.getByRole('link', { name: 'invoice_agent 1' }).click()
        await eventually(async () => expect(await rows().count()).toBe(1))
        await values.getByRole('link', { name: 'invoice_agent 1' }).click()
        await rows().nth(2).waitFor()
        await page.getByRole('button', { name: 'Values' }).click()
      })

      it('deletes the selected traces after a question', async () => {
        const weir = server.current()
        const { page, open } = used.current()
        const post = supportTrace(Date.now() - 10_000, { topic: 'unwanted', fails: false })
        const body = JSON.stringify({ post })
        const headers = { 'content-type': 'application/json' }
        await weir.request('/api/v1/runs/batch', { method: 'POST', headers, body })
        await drained(weir)
        await open(`${await sent()}?q=${encodeURIComponent('eq(name, "unwanted_agent")')}`)
        await page.getByLabel('Tick unwanted_agent').check()
        await page
          .getByRole('region', { name: 'Selected runs' })
          .getByRole('button', { name: 'Delete' })
          .click()
        const question = page.getByRole('dialog', { name: 'Delete the trace' })
        await question.getByRole('button', { name: 'Delete' }).click()
        await page.getByText('The trace is being deleted.').waitFor()
        await eventually(async () => {
          const answer = await weir.request(`/api/v1/traces/${post[0]?.id}`)
          expect(answer.status).toBe(404)
        })
      })

      it('finds the traces in which a run failed, although their roots did not', async () => {
        const { page, open } = used.current()
        await open(await sent())
        await rows().nth(2).waitFor()
        await page.getByRole('combobox', { name: 'Search or filter' }).click()
        await page.getByRole('option', { name: 'traces with a failed run' }).click()
        await eventually(async () => expect(await rows().count()).toBe(1))
        await page.getByText('a run of the trace failed').waitFor()
      })

      it('finds what has all of the words in any order, marks them in the rows and in the trace', async () => {
        const { page, open, broken } = used.current()
        await open(await sent())
        await rows().nth(2).waitFor()
        const field = page.getByRole('combobox', { name: 'Search or filter' })
        await field.fill('arrived empty')
        await page.getByRole('option', { name: 'all of these words' }).waitFor()
        await page.getByRole('option', { name: 'exactly this text' }).waitFor()
        await field.press('Enter')
        await page.getByRole('button', { name: 'Remove text “arrived”' }).waitFor()
        await page.getByRole('button', { name: 'Remove text “empty”' }).waitFor()
        await page.getByLabel('Figures of the list').getByText('Traces').waitFor()
        await rows().nth(2).waitFor()
        // The suggestions do not cover the answer.
        expect(await page.getByRole('listbox', { name: 'Search or filter' }).isVisible()).toBe(false)
        await eventually(async () =>
          expect(await rows().first().locator('mark').allInnerTexts()).toEqual(['empty', 'arrived']),
        )
        expect(await broken()).toEqual([])
        await rows().first().click()
        const found = page.getByRole('status').filter({ hasText: /found|of/ })
        await found.getByText(/\d+ found|\d+ of \d+/).waitFor()
        expect(new URL(page.url()).searchParams.get('find')).toBe('arrived')
        await page.keyboard.press('Escape')
        await field.fill('nowhere')
        await field.press('Enter')
        await page.getByText('No trace fits the filter').waitFor()
        expect(await page.getByText('longer range').count()).toBe(0)
        await page.getByRole('link', { name: 'Search all runs' }).click()
        await page.getByText('No run fits the filter').waitFor()
      })

      it('sorts the projects by a column, keeps that in the address, and has rows of one height', async () => {
        const { page, open, broken } = used.current()
        await sent()
        await open('/projects')
        const head = page.getByRole('columnheader', { name: 'Name' })
        const names = (): Promise<string[]> =>
          page.getByRole('region', { name: 'Projects' }).locator('tbody td:first-child').allInnerTexts()
        await page.getByRole('row', { name: PROJECT }).waitFor()
        for (const [order, sign] of [
          ['ascending', 1],
          ['descending', -1],
        ] as const) {
          await head.getByRole('button').click()
          await page.locator(`th[aria-sort="${order}"]`).waitFor()
          await eventually(async () => {
            const shown = await names()
            expect(shown.length).toBeGreaterThan(1)
            expect(shown).toEqual(shown.toSorted((a, b) => sign * (a < b ? -1 : 1)))
          })
        }
        expect(new URL(page.url()).searchParams.get('sort')).toBe('-name')
        for (const name of ['Traces', 'Tokens', 'Cost']) {
          const figure = page.getByRole('columnheader', { name, exact: true })
          await figure.getByRole('button').click()
          await eventually(async () => expect(await figure.getAttribute('aria-sort')).toBe('descending'))
        }
        await page.getByRole('row', { name: PROJECT }).waitFor()
        await open('/projects?sort=-name')
        await page.locator('th[aria-sort="descending"]').waitFor()
        expect(await broken()).toEqual([])
        const box = await page.getByRole('row', { name: PROJECT }).boundingBox()
        // 28 pixels and the line below.
        expect(Math.round(box?.height ?? 0)).toBe(29)
        await head.getByRole('button').click()
        await page.locator('th[aria-sort]').waitFor({ state: 'detached' })
      })

      it('has its pages on one line in a narrow window, with the current one in sight', async () => {
        const { page, open, broken } = used.current()
        await page.setViewportSize({ width: 390, height: 844 })
        try {
          await open('/settings')
          const current = page.getByRole('navigation', { name: 'Pages' }).locator('[aria-current]')
          await current.waitFor()
          const [head, link] = [await page.getByRole('banner').boundingBox(), await current.boundingBox()]
          expect(head?.height).toBeLessThanOrEqual(48)
          expect((link?.x ?? 390) + (link?.width ?? 0)).toBeLessThanOrEqual(300)
          expect(link?.x).toBeGreaterThanOrEqual(0)
          expect(await broken()).toEqual([])
        } finally {
          await page.setViewportSize({ width: 1440, height: 900 })
        }
      })

      it('greys the rows of the filter before, until those of the new one have come', async () => {
        const { page, open } = used.current()
        await open(await sent())
        await rows().nth(2).waitFor()
        let answer = (): void => undefined
        const held = new Promise<void>((resolve) => (answer = resolve))
        await page.route('**/runs/query', async (route) => {
          await held
          await route.continue()
        })
        await page.getByRole('combobox', { name: 'Search or filter' }).fill('nothinglikethis')
        await page.keyboard.press('Enter')
        await page.locator('#runs[aria-busy="true"]').waitFor()
        await page.getByRole('status').getByText('Reading the new selection').waitFor()
        answer()
        await page.getByText('No trace fits the filter').waitFor()
        await page.unroute('**/runs/query')
      })
    })
  })

  inLong(() => {
    describe('a trace that was opened from a list', () => {
      it('goes to its neighbours in the list with [ and ], and back to it with Esc', async () => {
        const { page, open } = used.current()
        const list = `${await sent()}?${REFUNDS}`
        await open(list)
        await eventually(async () => expect(await rows().count()).toBe(2))
        await rows().first().click()
        await page.getByRole('treegrid').waitFor()
        const newest = new URL(page.url()).pathname
        await page.keyboard.press('[')
        await eventually(async () => expect(new URL(page.url()).pathname).not.toBe(newest))
        await page.getByRole('heading', { name: 'refund_agent', level: 1 }).waitFor()
        await page.getByRole('treegrid').waitFor()
        await page.keyboard.press('[')
        await page.getByText('There is no older trace in the list.').waitFor()
        await page.getByRole('button', { name: 'Share' }).click()
        await page.getByRole('dialog', { name: 'Share this trace' }).waitFor()
        await page.keyboard.press('Escape')
        await page.getByRole('dialog', { name: 'Share this trace' }).waitFor({ state: 'detached' })
        await page.getByRole('treegrid').waitFor()
        await page.keyboard.press('Escape')
        await eventually(async () => expect(await rows().count()).toBe(2))
        expect(page.url()).toContain(list.split('?')[0] ?? '')
        await page.getByText('name = refund_agent').waitFor()
      })

      it('has the number of matches of a search, and Enter goes from one to the next', async () => {
        const { page, open } = used.current()
        await open(`${await sent()}?q=${encodeURIComponent('eq(name, "invoice_agent")')}`)
        await eventually(async () => expect(await rows().count()).toBe(1))
        await rows().first().click()
        await page.getByRole('treegrid').waitFor()
        const field = page.getByRole('searchbox', { name: 'Find in the trace' })
        await field.fill('order')
        const matches = page.getByRole('status').filter({ hasText: /found|of/ })
        await matches.getByText('2 found').waitFor()
        await field.press('Enter')
        await matches.getByText('1 of 2').waitFor()
        await page.locator('#run').getByRole('heading', { name: 'chat' }).waitFor()
        await field.press('Enter')
        await matches.getByText('2 of 2').waitFor()
        await page.locator('#run').getByRole('heading', { name: 'lookup_order' }).waitFor()
        await field.press('Enter')
        await matches.getByText('1 of 2').waitFor()
      })
    })
  })
}
