import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { campaign, LONG_MS } from '../../support/campaign.ts'
import { checkLooks } from '../../conformance/web/accessibility.ts'
import { eventually } from '../../support/eventually.ts'
import { startWeir, type WeirProcess } from '../../support/servers/server.ts'
import { HAS_BROWSER, NO_BROWSER, signIn, useInterface } from '../../support/servers/web-interface.ts'
import { ALL_HOSTILE, HOSTILE, HOSTILE_SVG, hostileEffects, NO_EFFECTS } from '../web/hostile-texts.ts'

// Chromium goes through many pages.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const NAME = 'studio'
const DEPLOYMENT = `/deployments/${NAME}`
const STUDIO = `${DEPLOYMENT}/studio`
const EVENTS = campaign(20_000)
const CHECKPOINTS = campaign(2000)
/** A picture of one red pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg=='

interface TracedRun {
  id: string
  name: string
  trace_id: string
  total_tokens: number
  total_cost: string
}

describe.skipIf(!HAS_BROWSER)(`Studio in a browser${NO_BROWSER}`, () => {
  let weir: WeirProcess
  beforeAll(async () => {
    weir = await startWeir({ GRAPHS: 'test/fixtures/studio-graphs/langgraph.json', DEPLOYMENT_NAME: NAME })
  })
  const used = useInterface({ current: () => weir })
  beforeAll(() => signIn(used.current().page, weir))
  afterAll(async () => {
    expect(await weir.stop()).toBe(0)
  })

  const region = (name: string): Locator => used.current().page.getByRole('region', { name })
  const steps = (): Locator => region('Timeline').getByRole('listitem')
  const node = (id: string): Locator => region('Graph').locator(`[data-node="${id}"]`)

  async function threadOfPage(): Promise<string> {
    const { page } = used.current()
    await page.waitForURL(/studio\/[0-9a-f-]{36}/)
    return new URL(page.url()).pathname.split('/').at(-1) ?? ''
  }

  async function runSteps(topic: string): Promise<string> {
    const { page, open } = used.current()
    await open(`${STUDIO}?assistant=steps`)
    await page.getByRole('textbox', { name: 'topic' }).fill(topic)
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('form', { name: 'Questions' }).waitFor()
    return await threadOfPage()
  }

  it('links each step to its trace runs, with their time, tokens and exact cost', async () => {
    const thread = await runSteps('rivers')
    const { page, broken } = used.current()
    const [run] = await weir.json<{ run_id: string }[]>(`${DEPLOYMENT}/threads/${thread}/runs`)
    const runs = await eventually(async () => {
      const body = { trace: run?.run_id, parent_run: run?.run_id }
      const found = await weir.json<{ runs: TracedRun[] }>('/api/v1/runs/query', body)
      expect(found.runs.map(({ name }) => name).toSorted()).toEqual(['draft', 'look', 'nested', 'review'])
      return found.runs
    })
    const of = (name: string): TracedRun => runs.find((one) => one.name === name) as TracedRun
    const [draft, look, nested] = [of('draft'), of('look'), of('nested')]
    expect([draft.total_tokens, nested.total_tokens].every((count) => count > 0)).toBe(true)
    // Two nodes ran side by side in one step. Their tokens are added up.
    const both = steps().filter({ hasText: /draft\s*look/ })
    const tokens = draft.total_tokens + look.total_tokens
    await both.locator('[data-figures]', { hasText: `${tokens} tokens · $0.` }).waitFor()
    // A call inside a subgraph counts for the node that is the subgraph.
    await steps()
      .filter({ hasText: 'nested' })
      .locator('[data-figures]', { hasText: `${nested.total_tokens} tokens` })
      .first()
      .waitFor()
    await both.getByRole('button').click()
    const executions = page.getByRole('list', { name: 'Trace of the step' })
    await executions.getByRole('link', { name: 'look' }).waitFor()
    expect(await executions.getByRole('link').count()).toBe(2)
    // The node that asked has no checkpoint of its own. It is shown at the checkpoint after which it ran.
    await steps().filter({ hasText: 'asks' }).first().getByRole('button').click()
    const review = executions.getByRole('listitem').filter({ hasText: 'without a checkpoint' })
    expect(await review.getByRole('link').innerText()).toBe('review')
    expect(await broken()).toEqual([])
    await both.getByRole('button').click()
    await executions.getByRole('link', { name: 'draft' }).click()
    await page.locator('#run').getByRole('heading', { name: 'draft' }).waitFor()
    expect(new URL(page.url()).searchParams.get('run')).toBe(draft.id)
  })

  it('shows the steps of two runs of a thread with the figures of each', async () => {
    const thread = await runSteps('lakes')
    const { page } = used.current()
    await page.getByRole('form', { name: 'Questions' }).getByLabel('Answer to review').fill('yes')
    await page.getByRole('button', { name: 'Answer and go on' }).click()
    await steps().filter({ hasText: 'end' }).first().waitFor()
    const runs = await weir.json<{ run_id: string }[]>(`${DEPLOYMENT}/threads/${thread}/runs`)
    expect(runs).toHaveLength(2)
    await steps().first().getByRole('button').click()
    const review = page.getByRole('list', { name: 'Trace of the step' }).getByRole('link', { name: 'review' })
    await eventually(async () =>
      expect(await review.getAttribute('href')).toContain(`/traces/${runs[0]?.run_id}?run=`),
    )
  })

  it('#28: lights up nodes that write nothing, and has them in the timeline', async () => {
    await runSteps('silence')
    for (const name of ['draft', 'look', 'nested:first', 'nested:second'])
      await region('Graph').locator(`[data-node="${name}"][data-state="success"]`).waitFor()
    await steps()
      .filter({ hasText: /draft\s*look/ })
      .waitFor()
  })

  it('folds subgraphs by button and by key', async () => {
    const { page, open, broken } = used.current()
    await open(`${STUDIO}?assistant=steps`)
    await node('nested:first').waitFor()
    await page.getByRole('button', { name: 'Fold subgraphs' }).click()
    await node('nested').waitFor()
    expect(await node('nested:first').count()).toBe(0)
    expect(await broken()).toEqual([])
    await node('nested').press('ArrowRight')
    await node('nested:first').waitFor()
    await node('nested:second').press('ArrowLeft')
    await node('nested').waitFor()
    expect(await node('nested:first').count()).toBe(0)
    // A subgraph that is not expanded has the state of its node.
    await page.getByRole('textbox', { name: 'topic' }).fill('folded')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await region('Graph').locator('[data-node="nested"][data-state="success"]').waitFor()
    await node('nested').press('Enter')
    await page.getByRole('button', { name: 'Unfold nested' }).click()
    await region('Graph').locator('[data-node="nested:first"][data-state="success"]').waitFor()
  })

  it('takes an earlier input again, in the form or as JSON', async () => {
    await runSteps('an earlier topic')
    const { thread_id } = await weir.json<{ thread_id: string }>(`${DEPLOYMENT}/threads`, {})
    await weir.json(`${DEPLOYMENT}/threads/${thread_id}/runs/wait`, {
      assistant_id: 'steps',
      input: { topic: 'other', extra: [1] },
    })
    const { page, open, broken } = used.current()
    await open(`${STUDIO}?assistant=steps`)
    await page.getByText('Earlier inputs').click()
    const list = page.getByRole('list', { name: 'Earlier inputs' })
    await list.getByRole('button', { name: 'an earlier topic' }).waitFor()
    expect(await broken()).toEqual([])
    await list.getByRole('button', { name: 'an earlier topic' }).click()
    await eventually(async () =>
      expect(await page.getByRole('textbox', { name: 'topic' }).inputValue()).toBe('an earlier topic'),
    )
    await page.getByText('Earlier inputs').click()
    await list.getByRole('button', { name: 'extra' }).click()
    const json = page.getByRole('textbox', { name: 'Input as JSON' })
    expect(JSON.parse(await json.inputValue())).toEqual({ topic: 'other', extra: [1] })
  })

  it('sends files with a message, and shows them in the chat', async () => {
    const { page, open, broken } = used.current()
    await open(`${STUDIO}?assistant=steps`)
    const file = { name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(PNG, 'base64') }
    await page.getByLabel('Files for messages').setInputFiles(file)
    await page.getByRole('form', { name: 'Input' }).getByRole('img').waitFor()
    expect(await broken()).toEqual([])
    await page.getByRole('textbox', { name: 'messages' }).fill('What is it?')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    const thread = await threadOfPage()
    await page.getByRole('form', { name: 'Questions' }).waitFor()
    const { values } = await weir.json<{ values: { messages: { content: unknown }[] } }>(
      `${DEPLOYMENT}/threads/${thread}/state`,
    )
    expect(values.messages[0]?.content).toEqual([
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
    ])
    await page.getByRole('link', { name: 'Chat' }).click()
    const chat = region('Chat')
    await chat.getByRole('img').waitFor()
    expect(await broken()).toEqual([])
    await page.getByLabel('Files for the message').setInputFiles(file)
    await page.getByRole('form', { name: 'Send a message' }).getByRole('img').waitFor()
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await eventually(async () => expect(await chat.getByRole('img').count()).toBe(2))
  })

  it(`loses none of ${EVENTS} events of a run`, async () => {
    const { page, open } = used.current()
    await open(`${STUDIO}?assistant=busy`)
    await page.getByRole('textbox', { name: 'events' }).fill(String(EVENTS / 4))
    await page.getByRole('textbox', { name: 'steps' }).fill('4')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await region('Graph').locator('[data-node="answer"][data-state="success"]').waitFor()
    await region('Graph').locator(`[data-count="${EVENTS}"]`).waitFor()
    await page.getByText('Custom events').click()
    await region('Graph')
      .getByText(String(EVENTS - 1))
      .waitFor()
  })

  it(`loses none of ${EVENTS} tokens of an answer`, async () => {
    const { page, open } = used.current()
    await open(`${STUDIO}?assistant=busy&mode=chat`)
    await page.getByText('Other inputs and settings of a run').click()
    const input = page.getByRole('form', { name: 'Input' })
    await input.getByRole('textbox', { name: 'tokens' }).fill(String(EVENTS))
    await input.getByRole('button', { name: 'Run', exact: true }).click()
    const chat = region('Chat')
    await chat.getByText(`tok${EVENTS - 1}`).waitFor()
    // Not `innerText`, which lacks those pieces of a growing text that are scrolled out of view.
    const shown = (await chat.locator('[data-role="ai"]').textContent()) ?? ''
    const tokens = shown.match(/tok\d+/g) ?? []
    expect(tokens).toHaveLength(EVENTS)
    expect(tokens.every((token, place) => token === `tok${place}`)).toBe(true)
  })

  it(`goes back through ${CHECKPOINTS} checkpoints of a thread, of which it draws a few`, async () => {
    const { thread_id } = await weir.json<{ thread_id: string }>(`${DEPLOYMENT}/threads`, {})
    await weir.json(`${DEPLOYMENT}/threads/${thread_id}/runs/wait`, {
      assistant_id: 'busy',
      input: { steps: CHECKPOINTS, chars: 1000 },
      config: { recursion_limit: 2 * CHECKPOINTS },
    })
    const { page, open, broken } = used.current()
    await open(`${STUDIO}/${thread_id}?assistant=busy`)
    await steps().first().waitFor()
    const toEnd = `document.querySelector('[aria-label="Checkpoints, scrolls"]').scrollTop = 1e9`
    await eventually(async () => {
      await page.evaluate(toEnd)
      await steps().filter({ hasText: 'Input' }).waitFor({ timeout: 200 })
    })
    expect(await steps().count()).toBeLessThan(100)
    expect(await broken()).toEqual([])
    await steps().filter({ hasText: 'Step 7' }).first().getByRole('button').click()
    await region('State').getByRole('heading', { name: 'Step 7' }).waitFor()
    await region('State').getByText('6 666').first().waitFor()
    // The late steps of a long run also have figures.
    await steps().filter({ hasText: 'Step 7' }).first().locator('[data-figures]').waitFor()
    // The step that introduced a value is found among those before.
    await page.getByLabel('Field of the state').selectOption('chars')
    await page.getByRole('button', { name: 'Which step set it?' }).click()
    const since = region('State').getByRole('status').filter({ hasText: 'chars has its value since' })
    await since.getByRole('button', { name: 'Step 0', exact: true }).waitFor()
    // A link opens the checkpoint that it names, even if that is not one of the newest.
    await page.reload()
    await region('State').getByRole('heading', { name: 'Step 7' }).waitFor()
  })

  it('shows hostile values, messages and errors as text, in the graph and in the chat', async () => {
    const { thread_id } = await weir.json<{ thread_id: string }>(`${DEPLOYMENT}/threads`, {})
    const messages = HOSTILE.map((content) => ({ type: 'human', content }))
    const svg = `data:image/svg+xml;base64,${HOSTILE_SVG.toString('base64')}`
    const urls = [svg, 'https://spy.example/image.png', 'javascript:globalThis.pwned=1']
    const pictures = urls.map((url) => ({ type: 'image_url', image_url: { url } }))
    await weir.json(`${DEPLOYMENT}/threads/${thread_id}/runs/wait`, {
      assistant_id: 'steps',
      input: {
        topic: ALL_HOSTILE,
        verdict: Object.fromEntries(HOSTILE.map((text) => [text, text])),
        messages: [...messages, { type: 'human', content: pictures }],
      },
    })
    const { page, open, faults } = used.current()
    for (const mode of ['graph', 'chat']) {
      await open(`${STUDIO}/${thread_id}?assistant=steps&mode=${mode}`)
      await region('State').getByText('onerror').first().waitFor()
      if (mode === 'chat') await region('Chat').getByText('onerror').first().waitFor()
      expect([mode, await hostileEffects(page)]).toEqual([mode, NO_EFFECTS])
    }
    expect(faults).toEqual([])
  })

  it('keeps what was typed as an answer when the run cannot start', async () => {
    const thread = await runSteps('refused')
    const { page } = used.current()
    const form = page.getByRole('form', { name: 'Questions' })
    const headers = { 'x-request-id': 'of-the-refused' }
    const refused = { status: 422, headers, json: { detail: 'not now', code: 'invalid_request' } }
    await page.route('**/runs/stream', (route) => route.fulfill(refused))
    await form.getByRole('toolbar', { name: 'Way to answer review' }).getByText('Answer as JSON').click()
    await form.getByLabel('Answer to review').fill('{"kept": true}')
    await form.getByRole('button', { name: 'Answer and go on' }).click()
    await region('Graph').getByText('The run failed: not now').waitFor()
    await region('Graph').getByText('invalid_request · request of-the-refused').waitFor()
    await form.waitFor()
    await page.unroute('**/runs/stream')
    expect(await form.getByLabel('Answer to review').inputValue()).toBe('{"kept": true}')
    await form.getByRole('button', { name: 'Answer and go on' }).click()
    await eventually(async () => {
      const { values } = await weir.json<{ values: { verdict?: unknown } }>(
        `${DEPLOYMENT}/threads/${thread}/state`,
      )
      expect(values.verdict).toEqual({ kept: true })
    })
  })

  it('#70: shows every call that a question lists, and answers each of them', async () => {
    const thread = await runSteps('calls')
    const { page, broken } = used.current()
    const form = page.getByRole('form', { name: 'Questions' })
    await form.getByRole('group', { name: '1. send' }).waitFor()
    const second = form.getByRole('group', { name: '2. delete' })
    await second.getByRole('toolbar', { name: 'Way to answer 2. delete' }).getByText('Edit').click()
    await second.getByLabel('to of 2. delete').fill('nobody')
    expect(await broken()).toEqual([])
    await form.getByRole('button', { name: 'Answer and go on' }).click()
    await form.waitFor({ state: 'detached' })
    await eventually(async () => {
      const { values } = await weir.json<{ values: { verdict?: unknown } }>(
        `${DEPLOYMENT}/threads/${thread}/state`,
      )
      expect(values.verdict).toEqual([
        { type: 'accept', args: null },
        { type: 'edit', args: { action: 'delete', args: { to: 'nobody' } } },
      ])
    })
    await page.getByRole('button', { name: 'Edit the state' }).click()
    const nodes = page.locator('datalist#studio-nodes option')
    for (const node of ['draft', 'look', 'nested', 'review'])
      await page.locator(`datalist#studio-nodes option[value="${node}"]`).waitFor({ state: 'attached' })
    expect(await nodes.count()).toBe(4)
    // The editor belongs to one step: another one shows none until it is edited too.
    const editors = page.locator('[name=values]')
    expect(await editors.count()).toBe(1)
    for (const step of ['Step 0', 'Input']) {
      await steps().filter({ hasText: step }).first().getByRole('button').click()
      await region('State').getByRole('heading', { name: step }).waitFor()
      expect([step, await editors.count()]).toEqual([step, 0])
    }
  })

  it('§3.8: disables what a role lacks, naming the permission', async () => {
    const thread = await runSteps('rights')
    const [workspace] = await weir.json<{ id: string }[]>('/api/v1/workspaces')
    const { key } = await weir.json<{ key: string }>('/api/v1/orgs/current/service-keys', {
      description: 'viewer',
      role: 'viewer',
      workspaces: [workspace?.id],
    })
    const context = await used.current().browser.newContext()
    const viewer = await context.newPage()
    const refused = async (path: string, names: readonly string[], permission: string): Promise<void> => {
      await viewer.goto(`${weir.url}/app${path}`)
      for (const name of names) {
        const button = viewer.getByRole('button', { name, exact: true }).first()
        await button.waitFor()
        const found = [name, await button.isDisabled(), await button.getAttribute('title')]
        expect(found).toEqual([name, true, `This needs the permission ${permission}`])
      }
    }
    await viewer.goto(`${weir.url}/app${STUDIO}`)
    await viewer.getByLabel('API key').fill(key)
    await viewer.getByRole('button', { name: 'Sign in' }).click()
    await refused(`${STUDIO}?assistant=steps`, ['Run'], 'threads:create')
    const changes = ['Run', 'Answer and go on', 'Run from here', 'Edit the state']
    await refused(`${STUDIO}/${thread}?assistant=steps`, changes, 'threads:update')
    await refused(`${STUDIO}/${thread}?assistant=steps`, ['Copy the thread'], 'threads:create')
    await refused(`${STUDIO}/${thread}?assistant=steps&mode=chat`, ['Send'], 'threads:update')
    await context.close()
    await used.current().page.bringToFront()
  })

  it('has no accessibility faults with figures, executions, earlier inputs and folded subgraphs, in every look', async () => {
    await runSteps('looks')
    const { page } = used.current()
    await page.getByRole('button', { name: 'Fold subgraphs' }).click()
    await page.getByText('Earlier inputs').click()
    await page.getByRole('list', { name: 'Earlier inputs' }).waitFor()
    await page.getByRole('list', { name: 'Trace of the step' }).waitFor()
    await checkLooks(used.current(), 'Studio with everything open')
  })
})
