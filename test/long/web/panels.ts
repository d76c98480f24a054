import { Client, RunTree } from 'langsmith'
import { describe, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { projectOf } from '../../conformance/web/trace.ts'
import { drained } from '../../support/servers/server.ts'
import { eventually } from '../../support/eventually.ts'
import type { UsedWeir } from '../../support/servers/use-weir.ts'
import type { UsedInterface } from '../../support/servers/web-interface.ts'

interface Used {
  server: { current(): UsedWeir }
  used: { current(): UsedInterface }
}

const TOOLS = ['weather', 'calendar'].map((name) => ({
  type: 'function',
  function: { name, description: `The ${name} of a city`, parameters: { type: 'object', properties: {} } },
}))
const CALL = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } }
const ASKED = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'How warm is it in Paris?' },
]
const CALLED = { role: 'assistant', content: null, tool_calls: [CALL] }
const NOWHERE = '11111111-1111-4111-8111-111111111111'

/** Panels of runs, states of pages, and settings that the browser stores. The browser is signed in. */
export function panelTests({ server, used }: Used): void {
  /** Sends an agent with two model calls, the second of which repeats the first. Returns both. */
  async function sendAgent(): Promise<readonly [RunTree, RunTree]> {
    const client = new Client({ apiUrl: server.current().url, apiKey: server.current().key })
    const root = new RunTree({ name: 'agent', run_type: 'chain', client, project_name: 'panels', inputs: {} })
    await root.postRun()
    const call = async (messages: object[], message: object): Promise<RunTree> => {
      const run = root.createChild({
        name: 'chat',
        run_type: 'llm',
        inputs: { model: 'gpt-4.1-mini', temperature: 0.25, messages, tools: TOOLS },
        metadata: { ls_provider: 'openai', ls_model_name: 'gpt-4.1-mini' },
      })
      await run.postRun()
      await run.end({ choices: [{ message }] })
      await run.patchRun()
      return run
    }
    const first = await call(ASKED, CALLED)
    const result = { role: 'tool', tool_call_id: 'c1', content: '{"warm":"eighteen","n":1.50}' }
    const second = await call([...ASKED, CALLED, result], { role: 'assistant', content: '18 °C' })
    await root.end({})
    await root.patchRun()
    await client.awaitPendingTraceBatches()
    await drained(server.current())
    return [first, second]
  }

  describe('the panel of a model call', () => {
    it('shows the tools offered with those called marked, the parameters, and folds what the call before had', async () => {
      const [first, second] = await sendAgent()
      const { page, open, broken } = used.current()
      await open(`/traces/${first.trace_id}?run=${first.id}`)
      const panel = page.locator('#run')
      await panel.getByText('Tools offered').click()
      await panel.getByText('The calendar of a city').waitFor()
      expect(await panel.getByRole('listitem').filter({ hasText: 'called 1 ×' }).innerText()).toContain(
        'weather',
      )
      await panel.locator('summary', { hasText: 'Parameters' }).click()
      await panel.getByText('temperature').waitFor()
      await panel.getByText('0.25').waitFor()
      expect(await broken()).toEqual([])
      await open(`/traces/${first.trace_id}?run=${second.id}`)
      const fold = panel.getByRole('button', { name: 'Show 2 earlier messages' })
      await fold.waitFor()
      // The JSON of the tool is shown as a tree; the plain text is exactly what was sent.
      await panel
        .getByRole('listitem')
        .filter({ hasText: /^n: 1\.50$/ })
        .waitFor()
      await panel.getByRole('button', { name: 'Plain text' }).click()
      await panel.getByText('{"warm":"eighteen","n":1.50}').waitFor()
      await panel.getByRole('button', { name: 'Plain text' }).click()
      expect(await panel.getByText('How warm is it in Paris?').count()).toBe(0)
      await fold.click()
      await panel.getByText('How warm is it in Paris?').waitFor()
    })

    it('shows when tokens came, and the longest pauses between them', async () => {
      const start = Date.now() - 10_000
      const iso = (after: number): string => new Date(start + after).toISOString()
      const events = [400, 410, 420, 430, 1630, 1640].map((after) => ({
        name: 'new_token',
        time: iso(after),
      }))
      const id = newUuid()
      const run = {
        id,
        trace_id: id,
        name: 'streamed',
        run_type: 'llm',
        session_name: 'panels',
        events,
      }
      const times = { start_time: iso(0), end_time: iso(2000) }
      const sent = await server.current().request('/api/v1/runs/batch', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ post: [{ ...run, ...times, inputs: {}, outputs: {} }] }),
      })
      expect(sent.status).toBe(202)
      await drained(server.current())
      const { page, open, broken } = used.current()
      await open(`/traces/${id}`)
      await page.locator('#run summary', { hasText: /^Events/ }).click()
      await page.getByText('median pause 10 ms, 1 stall').waitFor()
      const longest = page.getByRole('row', { name: '1.2 s 430 ms 4' })
      await longest.waitFor()
      expect(await broken()).toEqual([])
    })

    it('copies programs that read the run, and saves it as a file', async () => {
      const [call] = await sendAgent()
      const { page, open, broken } = used.current()
      await open(`/traces/${call.trace_id}?run=${call.id}`)
      await page.getByRole('button', { name: 'Copy as …' }).click()
      const menu = page.getByRole('group', { name: 'Copy as …' })
      expect(await broken()).toEqual([])
      for (const [name, part] of [
        ['curl', `/api/v1/runs/${call.id}`],
        ['Python', `client.read_run("${call.id}")`],
        ['TypeScript', `client.readRun('${call.id}')`],
        ['weir validate', '| npx weir validate -'],
        ['JSON', `"id": "${call.id}"`],
      ] as const) {
        await menu.getByRole('button', { name: `Copy as ${name}` }).click()
        const copied = () => page.evaluate<string>('navigator.clipboard.readText()')
        await eventually(async () => expect(await copied()).toContain(part))
      }
      const [saved] = await Promise.all([
        page.waitForEvent('download'),
        menu.getByRole('button', { name: 'Save as a file' }).click(),
      ])
      expect(saved.suggestedFilename()).toBe(`${call.id}.json`)
    })
  })

  it('a run names the numbers of the usage report that count it, and opens them', async () => {
    const [call] = await sendAgent()
    const { page, open, broken } = used.current()
    await open(`/traces/${call.trace_id}?run=${call.id}`)
    const panel = page.locator('#run')
    await panel.locator('summary', { hasText: /^Usage/ }).click()
    await panel.getByText('the start of its root run').waitFor()
    expect(await broken()).toEqual([])
    await panel.getByRole('link', { name: 'the traces of the project' }).click()
    const counted = page.getByRole('region', { name: 'Counted traces' })
    await counted.getByRole('link', { name: call.trace_id }).waitFor()
    await page.goBack()
    await panel.locator('summary', { hasText: /^Usage/ }).click()
    await panel.getByRole('link', { name: 'the usage by model' }).click()
    await page.getByRole('row', { name: 'openai · gpt-4.1-mini' }).first().waitFor()
  })

  describe('states of pages', () => {
    it('what does not exist has a heading, and axe finds no fault', async () => {
      const { page, open, broken } = used.current()
      for (const path of ['/nowhere', `/traces/${NOWHERE}`, `/projects/${NOWHERE}`, '/compare']) {
        await open(path)
        await page.getByRole('heading', { level: 1 }).first().waitFor()
        expect([path, await broken()]).toEqual([path, []])
      }
    })

    it('a project that is being read has a heading, and axe finds no fault', async () => {
      const { page, open, broken } = used.current()
      const [call] = await sendAgent()
      const project = await projectOf(server.current(), call)
      const read = `**/api/v1/sessions/${project}?**`
      const held = Promise.withResolvers<void>()
      await page.route(read, async (route) => {
        await held.promise
        await route.continue()
      })
      await open(`/projects/${project}`)
      await page.locator('[data-run]').first().waitFor()
      const faults = await broken()
      held.resolve()
      await page.getByRole('heading', { name: 'panels', level: 1 }).waitFor()
      await page.unroute(read)
      expect(faults).toEqual([])
    })

    it('what was read stays, in grey, while the server cannot answer; "Try again" reads it again', async () => {
      const { page, open } = used.current()
      await sendAgent()
      await open('/projects')
      await page.getByRole('link', { name: 'panels' }).waitFor()
      const problem = { code: 'store_unavailable', detail: 'The store does not answer.', status: 503 }
      await page.route('**/api/v1/**', (route) =>
        route.fulfill({ status: 503, headers: { 'retry-after': '1' }, json: problem }),
      )
      await page.getByLabel('Name contains').fill('pan')
      await page.getByText('What is shown may be old').waitFor()
      await page.getByRole('link', { name: 'panels' }).waitFor()
      await page.unroute('**/api/v1/**')
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByText('What is shown may be old').waitFor({ state: 'detached' })
    })
  })

  it('projects are made and renamed, and show their last seven days with the share of good calls', async () => {
    const { page, open, broken } = used.current()
    await sendAgent()
    await open('/projects')
    const row = page.getByRole('row', { name: /^panels/ })
    await row.getByRole('img', { name: /^\d+ traces in the last 7 days$/ }).waitFor()
    await page.getByRole('button', { name: 'New project' }).click()
    const form = page.getByRole('form', { name: 'New project' })
    await form.getByLabel('Name').fill('panels')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByRole('alert').waitFor()
    expect(await broken()).toEqual([])
    await form.getByLabel('Name').fill('made here')
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'made here' }).waitFor()
    await page.getByText('No trace has arrived yet').waitFor()
    await page.getByText('LANGSMITH_ENDPOINT').waitFor()
    await open('/projects')
    await page.getByRole('button', { name: 'Rename made here' }).click()
    await page.getByLabel('Name', { exact: true }).fill('renamed')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: 'renamed' }).waitFor()
    await row.getByRole('link', { name: /%$/ }).click()
    await page.locator('[data-run]').first().waitFor()
    await page
      .getByText(/check_usage/)
      .first()
      .waitFor()
  })

  it('ui §9.4: the format doctor names the SDK that sends calls which fail a check', async () => {
    const [call] = await sendAgent()
    const { page, open, broken } = used.current()
    await open(`/projects/${await projectOf(server.current(), call)}?view=overview&of=llm`)
    const doctor = page.getByRole('region', { name: 'Format doctor' })
    await doctor.getByText('Which clients send the calls that fail').click()
    const clients = page.getByRole('region', { name: 'Clients of failing calls' })
    await clients.getByRole('row', { name: /^langsmith-js \d+\.\d+\.\d+/ }).waitFor()
    await clients.getByRole('columnheader', { name: 'Usage fails' }).waitFor()
    expect(await broken()).toEqual([])
  })

  it('models that were called without a price are listed, and one click adds it', async () => {
    const client = new Client({ apiUrl: server.current().url, apiKey: server.current().key })
    const metadata = { ls_provider: 'acme', ls_model_name: 'acme-tuned-7' }
    const inputs = { messages: [{ role: 'user', content: 'hi' }] }
    const call = new RunTree({ name: 'tuned', run_type: 'llm', client, metadata, inputs })
    await call.postRun()
    await call.end({
      messages: [{ role: 'assistant', content: 'hello' }],
      usage_metadata: { input_tokens: 3, output_tokens: 1, total_tokens: 4 },
    })
    await call.patchRun()
    await client.awaitPendingTraceBatches()
    await drained(server.current())
    const { page, open, broken } = used.current()
    await open('/prices')
    const unpriced = page.getByRole('region', { name: 'Models without a price' })
    await unpriced.getByText('1 call').waitFor()
    expect(await broken()).toEqual([])
    await unpriced.getByRole('button', { name: 'Set a price for acme-tuned-7' }).click()
    const form = page.getByRole('form', { name: 'Price', exact: true })
    expect(await form.getByLabel('Pattern').inputValue()).toBe('^acme-tuned-7$')
  })

  it('lists are ordered by the heads of their columns, page after page in the address', async () => {
    const { page, open, broken } = used.current()
    const [call] = await sendAgent()
    const { session_id } = await server.current().json<{ session_id: string }>(`/api/v1/runs/${call.id}`)
    await open(`/projects/${session_id}?view=runs`)
    const head = page.getByRole('columnheader', { name: 'Latency' })
    for (const [sort, order] of [
      ['latency', 'descending'],
      ['-latency', 'ascending'],
      [null, null],
    ]) {
      await head.getByRole('button').click()
      await eventually(async () => expect(await head.getAttribute('aria-sort')).toBe(order))
      expect(new URL(page.url()).searchParams.get('sort')).toBe(sort)
      await page.locator('[data-run]').first().waitFor()
      await eventually(async () => expect(await page.locator('[aria-busy="true"]').count()).toBe(0))
      if (sort === 'latency') expect(await broken()).toEqual([])
    }
  })

  it('Y copies an address with the times of a range back from now', async () => {
    const { page, open } = used.current()
    const [call] = await sendAgent()
    const { session_id } = await server.current().json<{ session_id: string }>(`/api/v1/runs/${call.id}`)
    await open(`/projects/${session_id}?t=1d`)
    await page.locator('[data-run]').first().waitFor()
    await page.keyboard.press('Y')
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()')
    await eventually(async () => expect(new URL(await copied()).searchParams.get('from')).not.toBeNull())
    // The default range of a project has no start; that of usage is 30 days.
    const timesOf = async () => Object.keys(Object.fromEntries(new URL(await copied()).searchParams))
    await open('/usage')
    await page.getByLabel('Range').waitFor()
    await page.keyboard.press('Y')
    await eventually(async () => expect(await timesOf()).toEqual(['from', 'to']))
    await open(`/projects/${session_id}`)
    await page.locator('[data-run]').first().waitFor()
    await page.keyboard.press('Y')
    await eventually(async () => expect(await timesOf()).toEqual(['to']))
    // On a busy machine the interface may read the second key too late, so this is repeated.
    await eventually(async () => {
      await page.keyboard.press('g')
      await page.keyboard.press('r')
      expect(new URL(page.url()).searchParams.get('view')).toBe('runs')
    })
  })

  it('rows are dense and times in UTC where this browser chose so', async () => {
    const { page, open } = used.current()
    await open('/settings?view=display')
    await page.getByLabel('Dense').check()
    await page.getByLabel('In UTC').check()
    await page.getByLabel('Light', { exact: true }).check()
    expect(await page.evaluate(`document.documentElement.dataset.theme`)).toBe('light')
    const [call] = await sendAgent()
    await open(`/traces/${call.trace_id}`)
    const row = page.getByRole('treegrid').getByRole('row').first()
    await row.waitFor()
    expect((await row.boundingBox())?.height).toBe(24)
    await page.evaluate('localStorage.clear()')
  })
}
