import { Client, RunTree } from 'langsmith'
import { expect, it } from 'vitest'
import { projectOf, sendAgentTrace } from '../../conformance/web/trace.ts'
import { eventually } from '../../support/eventually.ts'
import { drained } from '../../support/servers/server.ts'
import type { UsedWeir } from '../../support/servers/use-weir.ts'
import type { UsedInterface } from '../../support/servers/web-interface.ts'

interface Used {
  server: { current(): UsedWeir }
  used: { current(): UsedInterface }
}

/** Further cases of lists, traces and sign-in. The browser is signed in as an admin. */
export function morePageTests({ server, used }: Used): void {
  const sendTrace = (question?: string) => sendAgentTrace(server.current(), question)

  it('signs in with a link that is opened in a tab of the interface', async () => {
    const { url, json } = server.current()
    const { ticket } = await json<{ ticket: string }>('/api/v1/auth/tickets', {})
    const other = await used.current().browser.newContext()
    const tab = await other.newPage()
    await tab.goto(`${url}/app/`)
    await tab.getByLabel('API key').waitFor()
    await tab.goto(`${url}/app/#ticket=${ticket}`)
    await tab.getByRole('heading', { name: 'Projects' }).waitFor()
    expect(tab.url()).not.toContain('ticket')
    await other.close()
  })

  it('finds a run by its id from any page, by keyboard', async () => {
    const call = await sendTrace()
    const { page, open } = used.current()
    await open('/projects')
    await page.getByRole('heading', { name: 'Projects' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type(call.id)
    await page.keyboard.press('Enter')
    await page.locator('#run').getByRole('heading', { name: 'chat' }).waitFor()
  })

  it('moves the focus from “Show more projects” to the first of them', async () => {
    await sendTrace()
    const [project] = await server.current().json<object[]>('/api/v1/sessions?limit=1&include_stats=true')
    const { page, open } = used.current()
    const list = /\/api\/v1\/sessions\?/
    await page.route(list, async (route) => {
      const offset = Number(new URL(route.request().url()).searchParams.get('offset'))
      const projects = Array.from({ length: offset === 0 ? 100 : 5 }, (_, at) => ({
        ...project,
        id: `00000000-0000-4000-8000-${String(offset + at).padStart(12, '0')}`,
        name: `further ${offset + at}`,
      }))
      await route.fulfill({ json: projects })
    })
    await open('/projects')
    const more = page.getByRole('button', { name: 'Show more projects' })
    await more.press('Enter')
    await page.locator('tr:nth-child(101) a:focus', { hasText: 'further 100' }).waitFor()
    await more.waitFor({ state: 'detached' })
    await page.unroute(list)
  })

  it('can be used with the keyboard alone in the tree, and keeps the selected run in the address', async () => {
    const call = await sendTrace()
    const { page, open } = used.current()
    await open(`/traces/${call.trace_id}`)
    await page.locator('#run').getByText('agent').first().waitFor()
    await page.keyboard.press('j')
    await page.locator('#run').getByText('18 °C').waitFor()
    expect(new URL(page.url()).searchParams.get('run')).toBe(call.id)
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    const rows = page.getByRole('treegrid').getByRole('row')
    await eventually(async () => expect(await rows.count()).toBe(1))
  })

  it('N8: offers the values of a field with their counts, and other values for a chip', async () => {
    const id = await projectOf(server.current(), await sendTrace())
    const { page, open } = used.current()
    await open(`/projects/${id}?view=runs`)
    const field = page.getByRole('combobox', { name: 'Search or filter' })
    await field.fill('na')
    await page.getByRole('option', { name: 'name:' }).click()
    const chat = page.getByRole('option', { name: 'name = chat' })
    await chat.waitFor()
    const count = Number(/\d+$/.exec(await chat.innerText())?.[0])
    await chat.click()
    const rows = page.locator('[data-run]')
    await eventually(async () => expect(await rows.count()).toBe(count))
    await page.getByRole('button', { name: 'Change name = chat' }).click()
    await page.getByRole('option', { name: 'name = agent' }).click()
    await page.getByRole('button', { name: 'Change name = agent' }).waitFor()
    expect(new URL(page.url()).searchParams.get('q')).toBe('eq(name, "agent")')
  })

  it('moves no row under the pointer: new runs are held back until the reader selects them', async () => {
    const id = await projectOf(server.current(), await sendTrace())
    const { page, open } = used.current()
    await open(`/projects/${id}?view=runs`)
    await page.getByText('Live', { exact: true }).waitFor()
    const second = page.locator('[data-run]').nth(1)
    await second.hover()
    const before = await second.getAttribute('data-run')
    await sendTrace()
    await page.getByRole('button', { name: 'new ↑' }).waitFor()
    expect(await second.getAttribute('data-run')).toBe(before)
    await page.getByRole('button', { name: '2 new ↑' }).click()
    await eventually(async () => expect(await second.getAttribute('data-run')).not.toBe(before))
  })

  it('shows the columns that were chosen, in their order, and keeps them in the address', async () => {
    const id = await projectOf(server.current(), await sendTrace())
    const { page, open, broken } = used.current()
    await open(`/projects/${id}?cols=name,cost`)
    const heads = async (): Promise<string[]> => await page.getByRole('columnheader').allInnerTexts()
    await page.getByRole('columnheader', { name: 'Cost' }).waitFor()
    // The first column has a box to tick, without text.
    expect(await heads()).toEqual(['', 'Name', 'Cost'])
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('button', { name: 'Cost further left' }).click()
    await page.getByLabel('Key of the metadata').fill('ls_provider')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    expect(await broken()).toEqual([])
    await page.keyboard.press('Escape')
    await eventually(async () => expect(await heads()).toEqual(['', 'Cost', 'Name', 'ls_provider']))
    await page.reload()
    await page.getByRole('columnheader', { name: 'ls_provider' }).waitFor()
    await open(`/projects/${id}`)
    await page.getByRole('columnheader', { name: 'ls_provider' }).waitFor()
    const cols = () => new URL(page.url()).searchParams.get('cols')
    await eventually(async () => expect(cols()).toBe('cost,name,metadata.ls_provider'))
    await page.evaluate(() => localStorage.clear())
  })

  it('gives, changes and deletes feedback of a run', async () => {
    const call = await sendTrace()
    const { page, open } = used.current()
    await open(`/traces/${call.trace_id}`)
    await page.getByRole('button', { name: 'Add feedback' }).click()
    const form = page.getByRole('form', { name: 'New feedback' })
    await form.getByLabel('Key').fill('correctness')
    await form.getByLabel('Score').fill('much')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('The score is a number').waitFor()
    await form.getByLabel('Score').fill('0.5')
    await form.getByLabel('Correction').fill('{"degrees": 19}')
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Edit correctness' }).click()
    const read = async () =>
      await server.current().json<Record<string, unknown>[]>(`/api/v1/feedback?run=${call.trace_id}`)
    const first = { key: 'correctness', score: 0.5, correction: { degrees: 19 } }
    await eventually(async () => expect(await read()).toMatchObject([first]))
    const edited = page.getByRole('form', { name: 'Feedback correctness' })
    await edited.getByLabel('Score').fill('')
    await edited.getByLabel('Comment').fill('checked again')
    await edited.getByRole('button', { name: 'Save' }).click()
    await page.locator('#run').getByText('checked again').waitFor()
    const changed = { score: null, comment: 'checked again' }
    await eventually(async () => expect(await read()).toMatchObject([changed]))
    await page.getByRole('button', { name: 'Delete correctness' }).click()
    await eventually(async () => expect(await read()).toEqual([]))
    const FIRST_PAGE = 100
    for (let n = 0; n <= FIRST_PAGE; n += 1)
      await server.current().json('/api/v1/feedback', { run_id: call.trace_id, key: 'many', score: n })
    await page.reload()
    const given = page.locator('#run').getByRole('button', { name: 'Edit many' })
    await eventually(async () => expect(await given.count()).toBe(FIRST_PAGE))
    await page.getByRole('button', { name: 'Show more feedback' }).click()
    await eventually(async () => expect(await given.count()).toBe(FIRST_PAGE + 1))
  })

  it('lists the threads of a project, and shows one as a conversation of its turns', async () => {
    const client = new Client({ apiUrl: server.current().url, apiKey: server.current().key })
    const asked: { role: string; content: string }[] = []
    for (const [question, answer] of [
      ['How warm is it?', 'It is 18 °C.'],
      ['And tomorrow?', 'Rain.'],
    ] as const) {
      asked.push({ role: 'user', content: question })
      const inputs = { messages: [...asked] }
      const metadata = { thread_id: 'a thread/1' }
      const turn = new RunTree({
        name: 'turn',
        run_type: 'llm',
        client,
        project_name: 'chats',
        inputs,
        metadata,
      })
      await turn.postRun()
      asked.push({ role: 'assistant', content: answer })
      await turn.end({ choices: [{ message: asked.at(-1) }] })
      await turn.patchRun()
    }
    await client.awaitPendingTraceBatches()
    await drained(server.current())
    const [project] = await server.current().json<{ id: string }[]>('/api/v1/sessions?name=chats')
    const { page, open } = used.current()
    await open(`/projects/${project?.id}?view=threads`)
    await page.getByRole('link', { name: 'a thread/1' }).click()
    await page.getByText('Rain.').waitFor()
    const turns = page.getByRole('link', { name: /^Turn \d/ })
    await eventually(async () =>
      expect(await turns.allInnerTexts()).toEqual(['Turn 1 · turn', 'Turn 2 · turn']),
    )
    await eventually(async () => expect(await page.getByText('How warm is it?').count()).toBe(1))
    const focused = (): Promise<string> => page.evaluate('document.activeElement.textContent')
    for (const [key, turn] of [
      ['j', 'Turn 1 · turn'],
      ['j', 'Turn 2 · turn'],
      ['k', 'Turn 1 · turn'],
    ] as const) {
      await page.keyboard.press(key)
      expect(await focused()).toBe(turn)
    }
  })

  it('compares two ticked runs: their figures, and the words that differ', async () => {
    const first = await sendTrace('How warm is it in Paris today?')
    const id = await projectOf(server.current(), first)
    await sendTrace('How warm is it in Lyon today?')
    const { page, open } = used.current()
    await open(`/projects/${id}?view=runs`)
    await page.getByLabel('Tick chat').first().check()
    await page.getByLabel('Tick chat').nth(1).check()
    await page.getByRole('button', { name: 'Compare the two' }).click()
    const panel = page.getByRole('region', { name: 'The compared runs' })
    await panel.getByText('Parameters and metadata').waitFor()
    const words = async () => (await panel.locator('del, ins').allInnerTexts()).toSorted()
    await eventually(async () => expect(await words()).toEqual(['Lyon', 'Paris']))
    await panel
      .getByRole('button', { name: /^Show \d equal messages$/ })
      .first()
      .click()
    await panel.getByText('eighteen').first().waitFor()
  })

  it('shows what a role lacks as disabled, with the permission that it needs', async () => {
    const call = await sendTrace()
    const { page, open, browser } = used.current()
    const { url, json } = server.current()
    const [workspace] = await json<{ id: string }[]>('/api/v1/workspaces')
    const { key } = await json<{ key: string }>('/api/v1/orgs/current/service-keys', {
      description: 'viewer',
      role: 'viewer',
      workspaces: [workspace?.id],
    })
    await open('/projects')
    const context = await browser.newContext()
    const viewer = await context.newPage()
    await viewer.goto(`${url}/app/traces/${call.trace_id}`)
    await viewer.getByLabel('API key').fill(key)
    await viewer.getByRole('button', { name: 'Sign in' }).click()
    const add = viewer.getByRole('button', { name: 'Add feedback' })
    await add.waitFor()
    expect([await add.isDisabled(), await add.getAttribute('title')]).toEqual([
      true,
      'This needs the permission runs:create',
    ])
    await viewer.getByRole('button', { name: 'Share' }).click()
    expect(await viewer.getByRole('button', { name: 'Make a link' }).isDisabled()).toBe(true)
    await viewer.goto(`${url}/app/prices`)
    const price = viewer.getByRole('button', { name: 'Add a price' })
    await price.waitFor()
    expect([await price.isDisabled(), await price.getAttribute('title')]).toEqual([
      true,
      'This needs the permission workspaces:manage',
    ])
    await context.close()
    await page.bringToFront()
  })
}
