import { randomUUID } from 'node:crypto'
import { type Browser, type CDPSession, chromium, type Locator } from 'playwright-core'
import { drained, startWeir } from '../../test/support/servers/server.ts'
import { signIn } from '../../test/support/servers/web-interface.ts'
import { longTasks, tasksOf } from './page-tasks.ts'

// Measures Studio and the playground in Chromium: events of a run, a long thread with large values, and typing into a
// long prompt.
// Needs `ui/dist` (scripts/ui/build.ts):
//   node scripts/launch.mjs bench/web/studio.bench.ts [events|thread|typing …] [checkpoints] [characters of each value]
const PARTS = ['events', 'thread', 'typing']
const asked = process.argv.slice(2)
const wanted = PARTS.filter((part) => asked.includes(part))
const [CHECKPOINTS = 2000, CHARS = 1 << 20] = asked.filter((one) => !PARTS.includes(one)).map(Number)
const EVENTS = 20_000
const TIMES = 3
const PROMPT_TOKENS = 40_000
const KEYS = 30
const NAME = 'studio'
const QUIET_MS = 500

const weir = await startWeir({ GRAPHS: 'test/fixtures/studio-graphs/langgraph.json', DEPLOYMENT_NAME: NAME })
const browser: Browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--enable-precise-memory-info'],
})
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
page.setDefaultTimeout(600_000)

function shown(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0)
  return `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms (${sorted.length})`
}

/** Milliseconds of CPU time of the tasks of the page's thread. */
async function busyMs(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1000
}

const session = await page.context().newCDPSession(page)
await session.send('Performance.enable', { timeDomain: 'threadTicks' })

const runForm = (): Locator => page.getByRole('form', { name: 'Input' })

/** Opens Studio and fills in its form. */
async function fillForm(fields: Record<string, number>, mode = ''): Promise<void> {
  await page.goto(`${weir.url}/app/deployments/${NAME}/studio?assistant=busy${mode}`)
  for (const [name, value] of Object.entries(fields))
    await runForm().getByRole('textbox', { name }).fill(String(value))
  await page.waitForTimeout(QUIET_MS)
}

/**
 * Submits the form that was filled in. Returns the page's tasks from the click until half a second after `shown` has
 * resolved.
 */
async function runTasks(shown: () => Promise<void>): Promise<string> {
  const before = await busyMs(session)
  const tasks = await tasksOf(browser, page, async () => {
    await runForm().getByRole('button', { name: 'Run', exact: true }).click()
    await shown()
    await page.waitForTimeout(QUIET_MS)
  })
  return `${longTasks(tasks)}; ${Math.round((await busyMs(session)) - before)} ms of CPU`
}

async function measureEvents(): Promise<void> {
  for (let time = 0; time < TIMES; time += 1) {
    await fillForm({ events: EVENTS / 4, steps: 4 })
    const found = await runTasks(async () => {
      await page.locator(`[data-count="${EVENTS}"]`).waitFor()
      await page.locator('[data-node="answer"][data-state="success"]').waitFor()
    })
    console.log(`${EVENTS} custom events: ${found}`)
  }
  for (let time = 0; time < TIMES; time += 1) {
    await fillForm({ tokens: EVENTS }, '&mode=chat')
    const last = `document.querySelector('[data-role=ai]')?.textContent.includes('tok${EVENTS - 1}')`
    // This condition is checked seldom, and on one element: a locator of a text would search the whole page in the
    // thread that is measured.
    const found = await runTasks(async () => {
      while (!(await page.evaluate<boolean>(last))) await page.waitForTimeout(QUIET_MS)
    })
    const tokens = await page.evaluate<number>(
      `document.querySelector('[data-role=ai]').textContent.match(/tok\\d+/g).length`,
    )
    console.log(`${EVENTS} tokens, ${tokens} shown: ${found}`)
  }
}

/** Counts the bytes of the answers that the page receives after this call. */
async function countBytes(): Promise<() => number> {
  let bytes = 0
  const received = ({ dataLength }: { dataLength: number }): void => {
    bytes += dataLength
  }
  await session.send('Network.enable')
  session.on('Network.dataReceived', received)
  return () => {
    session.off('Network.dataReceived', received)
    return bytes
  }
}

const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

/** The number of elements of the page, and the size of its heap after a garbage collection. */
async function size(): Promise<string> {
  await session.send('HeapProfiler.collectGarbage')
  const nodes = await page.evaluate<number>('document.querySelectorAll("*").length')
  const heap = await page.evaluate<number>('performance.memory.usedJSHeapSize')
  return `${nodes} elements, heap ${mb(heap)}`
}

/** Creates a thread of many steps, each of which writes a large value. */
async function makeThread(): Promise<string> {
  const { thread_id } = await weir.json<{ thread_id: string }>(`/deployments/${NAME}/threads`, {})
  const started = performance.now()
  await weir.json(`/deployments/${NAME}/threads/${thread_id}/runs/wait`, {
    assistant_id: 'busy',
    input: { steps: CHECKPOINTS, chars: CHARS, messages: [{ role: 'user', content: 'go' }] },
    config: { recursion_limit: 2 * CHECKPOINTS },
  })
  console.log(`${CHECKPOINTS} checkpoints made in ${Math.round((performance.now() - started) / 1000)} s`)
  return thread_id
}

async function measureThread(): Promise<void> {
  const thread = await makeThread()
  const rows = page.getByRole('region', { name: 'Timeline' }).getByRole('listitem')
  for (const mode of ['graph', 'chat']) {
    const bytes = await countBytes()
    const started = performance.now()
    let first = 0
    let values = 0
    const tasks = await tasksOf(browser, page, async () => {
      await page.goto(`${weir.url}/app/deployments/${NAME}/studio/${thread}?assistant=busy&mode=${mode}`, {
        waitUntil: 'commit',
      })
      await rows.first().waitFor()
      first = Math.round(performance.now() - started)
      await page.getByRole('region', { name: 'State' }).getByText('value').first().waitFor()
      values = Math.round(performance.now() - started)
      await page.waitForTimeout(QUIET_MS)
    })
    console.log(
      `${CHECKPOINTS} checkpoints of ${CHARS} characters, ${mode}: first rows after ${first} ms, values after ${values} ms, ${mb(bytes())} read; ${longTasks(tasks)}; ${await size()}`,
    )
  }
  const bytes = await countBytes()
  const started = performance.now()
  let read = 0
  const tasks = await tasksOf(browser, page, async () => {
    const end = rows.filter({ hasText: 'Step -1' })
    while ((await end.count()) === 0) {
      await page.evaluate(`document.querySelector('[aria-label="Checkpoints, scrolls"]').scrollTop = 1e9`)
      await page.waitForTimeout(50)
    }
    read = Math.round(performance.now() - started)
    await rows.nth(5).getByRole('button').click()
    await page.waitForTimeout(QUIET_MS)
  })
  console.log(
    `scrolled to the first checkpoint in ${read} ms, ${mb(bytes())} read; ${longTasks(tasks)}; ${await size()}`,
  )
}

/** Sends a model call with `count` messages, which have PROMPT_TOKENS tokens together; returns the id of its run. */
async function sendPrompt(count: number): Promise<string> {
  const words = 'The river was high that year, and nobody had seen it so brown. '
  // A token is about four characters of English; a line has about 16 words.
  const text = `${words.trim()}\n`.repeat(Math.ceil((PROMPT_TOKENS * 4) / count / words.length))
  const id = randomUUID()
  const time = new Date().toISOString()
  const messages = Array.from({ length: count }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: text,
  }))
  const run = {
    id,
    trace_id: id,
    name: 'prompt',
    run_type: 'llm',
    session_name: 'prompts',
    inputs: { messages },
    start_time: time,
    end_time: time,
    outputs: { role: 'assistant', content: 'ok' },
    extra: { metadata: { ls_provider: 'openai', ls_model_name: 'gpt-4o-mini' } },
  }
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ post: [run], patch: [] })
  await weir.request('/api/v1/runs/batch', { method: 'POST', headers, body })
  await drained(weir)
  return id
}

/** Measures the time from a key to the next paint, and the CPU time of the page's thread for each key. */
async function measureTyping(): Promise<void> {
  for (const count of [1, 200]) {
    await page.goto(`${weir.url}/app/playground?from=${await sendPrompt(count)}`)
    const field = page.getByRole('textbox', { name: 'Message 1', exact: true })
    await field.waitFor()
    await page.waitForTimeout(2 * QUIET_MS)
    for (const place of ['beginning', 'end']) {
      await field.focus()
      await page.keyboard.press(place === 'end' ? 'Control+End' : 'Control+Home')
      await page.evaluate(`
        globalThis.keys = []
        globalThis.observer?.disconnect()
        globalThis.observer = new PerformanceObserver((list) => {
          for (const { name, duration } of list.getEntries()) if (name === 'keydown') keys.push(duration)
        })
        observer.observe({ type: 'event', durationThreshold: 16 })`)
      const before = await busyMs(session)
      const tasks = await tasksOf(browser, page, async () => {
        await page.keyboard.type('x'.repeat(KEYS), { delay: 60 })
        await page.waitForTimeout(QUIET_MS)
      })
      const busy = (await busyMs(session)) - before
      const slow = await page.evaluate<number[]>('keys')
      const keys = [...slow, ...Array.from({ length: Math.max(0, KEYS - slow.length) }, () => 16)]
      console.log(
        `typing at the ${place} of ${PROMPT_TOKENS} tokens in ${count} messages: key to paint ${shown(keys)}; ${(busy / KEYS).toFixed(1)} ms of CPU a key; ${longTasks(tasks)}`,
      )
    }
  }
}

const MEASURES = { events: measureEvents, thread: measureThread, typing: measureTyping }
try {
  await signIn(page, weir)
  for (const part of wanted.length === 0 ? PARTS : wanted) await MEASURES[part as keyof typeof MEASURES]()
} finally {
  await browser.close()
  await weir.stop()
}
