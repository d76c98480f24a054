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

const PROJECT = 'findings'
const THREAD = 'thread-of-the-lost-parcel'
/** "Where is my order 123?": its question mark stands at the left. */
const ARABIC = 'أين طلبي رقم 123؟'

/** The pages as a review found them wanting. The browser is signed in as an admin. */
export function findingTests({ server, used }: Used): void {
  let made: { project: string; trace: string } | undefined

  async function sent(): Promise<{ project: string; trace: string }> {
    if (made !== undefined) return made
    const weir = server.current()
    const now = Date.now() - 120_000
    // The model call starts with its root, and its id is before that of the root.
    const [call, root] = [randomUUID(), randomUUID()].toSorted() as [string, string]
    const messages = [{ role: 'user', content: ARABIC }]
    const at = (id: string, name: string, run_type: string, rest: object) => ({
      id,
      name,
      run_type,
      trace_id: root,
      session_name: PROJECT,
      start_time: new Date(now).toISOString(),
      end_time: new Date(now + 900).toISOString(),
      inputs: { messages },
      ...rest,
    })
    const outputs = {
      choices: [{ message: { role: 'assistant', content: 'Soon.' } }],
      usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
    }
    const post = [
      at(root, 'parcel_agent', 'chain', {
        outputs: { messages: [...messages, { role: 'assistant', content: 'Soon.' }] },
        extra: { metadata: { thread_id: THREAD, user_id: 'end-user-17', plan: 'gold' } },
      }),
      at(call, 'chat', 'llm', {
        parent_run_id: root,
        outputs,
        extra: { metadata: { ls_provider: 'openai', ls_model_name: 'gpt-4.1-mini' } },
      }),
    ]
    const answer = await weir.request('/api/v1/runs/batch', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ post }),
    })
    expect(answer.status).toBe(202)
    await drained(weir)
    const [project] = await weir.json<{ id: string }[]>(`/api/v1/sessions?name=${PROJECT}`)
    made = { project: project?.id ?? '', trace: root }
    return made
  }

  describe('what a review found', () => {
    it('finding 15: ⌘K finds projects, models, members and threads by name, and says that it found nothing', async () => {
      await sent()
      const { json } = server.current()
      const person = { email: 'ada@findings.example', full_name: 'Ada of Findings', role: 'viewer' }
      await json('/api/v1/orgs/current/members', person)
      const { page, open, broken } = used.current()
      await open('/usage')
      await page.getByRole('button', { name: 'Find' }).waitFor()
      await page.keyboard.press('Control+k')
      const field = page.getByRole('dialog').getByRole('combobox')
      await field.fill('findings')
      for (const text of ['findings project', 'Ada of Findings · ada@findings.example member'])
        await page.getByRole('option', { name: text }).waitFor()
      await field.fill('lost-parcel')
      await page.getByRole('option', { name: new RegExp(`${THREAD} thread`) }).waitFor()
      expect(await broken()).toEqual([])
      await field.fill('nothing-has-this-name')
      await page.getByRole('status').getByText('Nothing found').waitFor()
      await field.fill('4.1-mini')
      await page.getByRole('option', { name: 'gpt-4.1-mini model' }).click()
      await page.getByText('model = gpt-4.1-mini').waitFor()
      await page.locator('[data-run]').first().waitFor()
    })

    it('findings 9 and 18: a list has text in its own direction, and costs of four decimals under each other', async () => {
      const { project } = await sent()
      const { page, open } = used.current()
      await open(`/projects/${project}?cols=name,input,cost`)
      const row = page.locator('[data-run]').first()
      const input = row.getByText(ARABIC)
      await input.waitFor()
      expect(await input.getAttribute('dir')).toBe('auto')
      const cost = row.getByText(/^\$\d+\.\d{4}$/)
      await cost.waitFor()
      expect(await cost.getAttribute('title')).toMatch(/^\$0\.0\d+$/)
    })

    it('finding 17: charts have p95, and the days of a week on their axis', async () => {
      const { project } = await sent()
      const { page, open } = used.current()
      await open(`/projects/${project}?view=overview&t=7d`)
      const latency = page.getByRole('region', { name: 'Latency', exact: true })
      await latency.getByText('p95', { exact: true }).waitFor()
      const ticks = await latency.locator('figure > div:last-child span').allInnerTexts()
      expect(ticks.length).toBeGreaterThanOrEqual(6)
      expect(new Set(ticks).size).toBe(ticks.length)
      await open(`/projects/${project}?view=overview&t=7d&of=llm&by=model`)
      await page.getByLabel('Percentile of times').selectOption('p50')
      await latency.getByText('p50', { exact: true }).waitFor()
    })

    it('finding 20: an invitation ends with a link for one person', async () => {
      const { page, open, broken } = used.current()
      await open('/settings?view=members')
      await page.getByRole('button', { name: 'Invite' }).click()
      const form = page.getByRole('form', { name: 'Invite' })
      await form.getByLabel(/^Email/).fill('grace@findings.example')
      await form.getByRole('button', { name: 'Make the link' }).click()
      await page
        .getByRole('dialog')
        .getByText(/\/app\/\S*#/)
        .waitFor()
      expect(await broken()).toEqual([])
      await page.keyboard.press('Escape')
    })

    it('finding 21: the head says who is signed in, at the button that signs out', async () => {
      const { page, open } = used.current()
      await open('/projects')
      await page.getByRole('button', { name: /^Sign out \S+/ }).waitFor()
    })

    it('defect 21: a thread says in which project it is, and Projects is marked', async () => {
      const { project } = await sent()
      const { page, open, broken } = used.current()
      await open(`/threads/${THREAD}?project=${project}`)
      const link = page.getByLabel('Place of the thread').getByRole('link', { name: `${PROJECT}, threads` })
      await link.waitFor()
      expect(await page.getByLabel('Pages').locator('[aria-current]').allInnerTexts()).toEqual(['Projects'])
      expect(await broken()).toEqual([])
      await link.click()
      await page.getByRole('link', { name: THREAD }).waitFor()
    })

    it('findings 22 and 27: a trace opens at its root, and a shared one has the costs of its chains', async () => {
      const { trace } = await sent()
      const { page, open, browser } = used.current()
      await open(`/traces/${trace}`)
      await page.locator('#run').getByRole('heading', { name: 'parcel_agent' }).waitFor()
      const weir = server.current()
      const { share_token } = await weir
        .request(`/api/v1/runs/${trace}/share`, {
          method: 'PUT',
          headers: { 'content-type': 'application/json' },
          body: '{}',
        })
        .then(async (answer) => (await answer.json()) as { share_token: string })
      const context = await browser.newContext()
      const reader = await context.newPage()
      await reader.goto(`${weir.url}/app/public/${share_token}/r`)
      const root = reader.getByRole('treegrid').getByRole('row').filter({ hasText: 'parcel_agent' })
      await root.getByText(/\$0\.\d+/).waitFor()
      await context.close()
    })

    it('findings 24 and 26: no axe fault where calls have no price, and no odd words', async () => {
      const { project } = await sent()
      const { page, open, broken } = used.current()
      await open('/usage?of=cost')
      await page.getByRole('region', { name: 'Report' }).waitFor()
      expect(await broken()).toEqual([])
      await open(`/projects/${project}?view=overview&of=llm&t=1d`)
      await page.getByRole('region', { name: 'Distribution of latency' }).waitFor()
      expect(await page.getByText('a class is about twice as long').count()).toBe(0)
    })

    it('adds up usage by end user and by any key of the metadata, across projects, and opens the traces of a number', async () => {
      await sent()
      const { page, open, broken } = used.current()
      await open('/usage?of=tokens&t=7d')
      await page.getByLabel('Group', { exact: true }).selectOption('metadata.user_id')
      await page.getByRole('row', { name: /^end-user-17 1,100/ }).waitFor()
      await page.getByLabel('Group', { exact: true }).selectOption('metadata')
      await page.getByLabel('Key of the metadata').fill('plan')
      await page.keyboard.press('Enter')
      await page.getByRole('row', { name: /^gold 1,100/ }).waitFor()
      expect(new URL(page.url()).searchParams.get('by')).toBe('metadata.plan')
      const [saved] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'CSV' }).click(),
      ])
      expect(saved.suggestedFilename()).toBe('usage-by-plan.csv')
      const none = page.getByRole('row', { name: /^\(none\)/ })
      expect(await broken()).toEqual([])
      await page
        .getByRole('row', { name: /^gold 1,100/ })
        .getByRole('link')
        .click()
      await page.getByRole('heading', { name: 'Traces by plan: gold' }).waitFor()
      const list = page.getByRole('region', { name: 'Traces of the number' }).getByRole('row')
      await list.filter({ hasText: 'parcel_agent' }).waitFor()
      expect(await list.count()).toBe(2)
      expect(await broken()).toEqual([])
      await list.getByRole('link', { name: PROJECT }).click()
      await eventually(async () => expect(await page.locator('[data-run]').count()).toBe(1))
      await open('/usage?of=traces&t=7d&by=metadata.plan')
      const count = await none.getByRole('link').innerText()
      await none.getByRole('link').click()
      await page.getByText(new RegExp(`^${count} traces?,`)).waitFor()
    })

    it('finding 7: deletes a project after its name was typed', async () => {
      const { project } = await sent()
      const { page, open, broken } = used.current()
      await open(`/projects?q=${PROJECT}`)
      await page.getByRole('button', { name: `Delete ${PROJECT}` }).click()
      const question = page.getByRole('dialog', { name: `Delete ${PROJECT}` })
      await question.getByLabel('Name of the project, to confirm').fill(PROJECT)
      expect(await broken()).toEqual([])
      await question.getByRole('button', { name: 'Delete', exact: true }).click()
      await page.getByText(`No project has “${PROJECT}” in its name`).waitFor()
      await eventually(async () => {
        expect((await server.current().request(`/api/v1/sessions/${project}`)).status).toBe(404)
      })
    })
  })
}
