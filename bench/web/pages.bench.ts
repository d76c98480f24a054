import { randomUUID } from 'node:crypto'
import { type Browser, chromium, type Page } from 'playwright-core'
import { drained, startWeir } from '../../test/support/servers/server.ts'
import { signIn } from '../../test/support/servers/web-interface.ts'
import { type LongestTask, longestTask } from './longest-task.ts'

// Measures pages of the web interface in Chromium: the first page, opening runs, runs of 10 MB, typing. Needs `ui/dist`
// (scripts/ui/build.ts):
//   node scripts/launch.mjs bench/web/pages.bench.ts [times]
const TIMES = Number(process.argv[2] ?? 20)
const RUNS = 400
const MEGABYTES = 10
const OBJECTS = 90_000
/**
 * A pause in which the page finishes its earlier reads. Playwright cannot wait for an idle network, because a live page
 * reads without end.
 */
const QUIET_MS = 500
const TYPED = 'step 12 with a longer text'

const weir = await startWeir({})
const browser: Browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
})

function shown(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0)
  return `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms (${sorted.length} times)`
}

async function send(post: readonly object[]): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ post, patch: [] })
  const answer = await weir.request('/api/v1/runs/batch', { method: 'POST', headers, body })
  if (answer.status !== 202) throw new Error(`a batch was answered ${answer.status}`)
}

/**
 * Checks a condition in every frame. Playwright's locators check only every 500 ms, and the page's policy forbids
 * waitForFunction.
 */
const until = (condition: string): string => `new Promise((resolve) => {
  const look = () => ${condition} ? resolve() : requestAnimationFrame(look)
  look()
})`

/** Sends a trace of RUNS runs below one root; returns its id. */
async function sendTrace(): Promise<string> {
  const ids = Array.from({ length: RUNS }, () => randomUUID())
  const [trace_id = ''] = ids
  const start = Date.now() - RUNS
  await send(
    ids.map((id, place) => ({
      id,
      trace_id,
      name: `step ${place}`,
      run_type: 'tool',
      session_name: 'pages',
      ...(place > 0 && { parent_run_id: trace_id }),
      start_time: new Date(start + place).toISOString(),
      end_time: new Date(start + place + 5).toISOString(),
      inputs: { city: 'Paris', place },
      outputs: { text: 'A long answer. '.repeat(100) },
    })),
  )
  await drained(weir)
  return trace_id
}

/** Measures the time from the navigation to the first row of a list, each time in a browser with an empty cache. */
async function measureStart(page: Page, project: string): Promise<void> {
  const state = await page.context().storageState()
  const [times, busy]: [number[], number[]] = [[], []]
  for (let time = 0; time < TIMES; time += 1) {
    const context = await browser.newContext({ storageState: state, viewport: { width: 1440, height: 900 } })
    const fresh = await context.newPage()
    const session = await context.newCDPSession(fresh)
    await session.send('Performance.enable')
    const started = performance.now()
    await fresh.goto(`${weir.url}/app/projects/${project}`, { waitUntil: 'commit' })
    await fresh.evaluate(until('document.querySelector("[data-run]") !== null'))
    times.push(performance.now() - started)
    const { metrics } = await session.send('Performance.getMetrics')
    busy.push((metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1000)
    await context.close()
  }
  console.log(`cold start to the list: ${shown(times)}; the page's thread is busy for ${shown(busy)}`)
}

/** Executes `act` in the page; resolves with the milliseconds until the panel with the run is painted. */
const opened = (act: string, name: string): string => `new Promise((resolve) => {
  const started = performance.now()
  ${act};
  const look = () => requestAnimationFrame(() => {
    if (document.querySelector('#run h2')?.textContent !== ${JSON.stringify(name)}) return look()
    setTimeout(() => resolve(performance.now() - started))
  })
  look()
})`

async function measureOpen(page: Page, trace: string): Promise<void> {
  await page.goto(`${weir.url}/app/traces/${trace}`)
  await page.locator('#run').getByRole('heading', { name: 'step 0' }).waitFor()
  const [prefetched, cold]: [number[], number[]] = [[], []]
  for (let time = 1; time <= TIMES; time += 1) {
    await page.waitForTimeout(QUIET_MS)
    const key = `document.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }))`
    prefetched.push(await page.evaluate<number>(opened(key, `step ${time}`)))
  }
  for (let time = 1; time <= TIMES; time += 1) {
    const far = RUNS - 3 * time
    // A new page has no cached reads. The tree is scrolled to the row that will be selected.
    await page.goto(`${weir.url}/app/traces/${trace}`)
    await page.locator('#run').getByRole('heading', { name: 'step 0' }).waitFor()
    await page.evaluate(`document.querySelector('#tree').scrollTop = ${far * 28}`)
    const row = page.getByRole('row', { name: new RegExp(`^\\D*step ${far}\\b`) })
    await row.waitFor()
    await page.waitForTimeout(QUIET_MS)
    const click = `;[...document.querySelectorAll('#tree [role=row]')].find((row) => /\\bstep ${far}\\b/.test(row.getAttribute('aria-label') ?? row.textContent)).click()`
    cold.push(await page.evaluate<number>(opened(click, `step ${far}`)))
  }
  console.log(`open a run, read before: ${shown(prefetched)}; not read before: ${shown(cold)}`)
}

async function measureLarge(page: Page): Promise<void> {
  const base64 = Buffer.alloc((MEGABYTES * 3e6) / 4, 7).toString('base64')
  const size = Math.floor((MEGABYTES * 1e6) / OBJECTS) - 60
  const objects = Array.from({ length: OBJECTS }, (_, at) => ({
    at,
    name: `item ${at}`,
    text: 'x'.repeat(size),
  }))
  const bodies = {
    [`${MEGABYTES} MB in ${OBJECTS} objects`]: { objects },
    [`${MEGABYTES} MB of base64`]: { file: `data:application/pdf;base64,${base64}` },
    [`${MEGABYTES} MB of text`]: { text: 'A sentence of words.\n'.repeat((MEGABYTES * 1e6) / 21) },
  }
  for (const [what, inputs] of Object.entries(bodies)) {
    const id = randomUUID()
    const times = { start_time: new Date().toISOString(), end_time: new Date().toISOString() }
    await send([
      { id, trace_id: id, name: 'large', run_type: 'tool', session_name: 'large', inputs, ...times },
    ])
    await drained(weir)
    const tasks: LongestTask[] = []
    for (let time = 0; time < 5; time += 1) {
      await page.goto(`${weir.url}/app/traces/${randomUUID()}`)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      await page.waitForTimeout(QUIET_MS)
      const open = async (): Promise<void> => {
        await page.evaluate(
          `history.pushState(null, '', '/app/traces/${id}'); dispatchEvent(new PopStateEvent('popstate'))`,
        )
        await page.locator('#run').getByRole('heading', { name: 'large' }).waitFor({ timeout: 120_000 })
        await page.waitForTimeout(QUIET_MS)
      }
      tasks.push(await longestTask(page, open))
    }
    const told = tasks.map(({ wall, cpu }) => `${Math.round(wall)} (${Math.round(cpu)})`).join(', ')
    console.log(`${what}: longest task ${told} ms (in brackets its CPU time)`)
  }
}

/** Measures the time from a key to the next paint, which the browser reports in steps of 8 ms. */
async function measureTyping(page: Page, path: string, field: string): Promise<void> {
  await page.goto(`${weir.url}/app${path}`)
  await page.locator(field).waitFor()
  await page.waitForTimeout(QUIET_MS)
  await page.locator(field).focus()
  await page.evaluate(`
    globalThis.keys = []
    new PerformanceObserver((list) => {
      for (const { name, duration } of list.getEntries()) if (name === 'keydown') keys.push(duration)
    }).observe({ type: 'event', durationThreshold: 16 })`)
  await page.keyboard.type(TYPED, { delay: 60 })
  await page.evaluate(until(`document.querySelector('${field}').value === '${TYPED}'`))
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 500))')
  const slow = await page.evaluate<number[]>('keys')
  console.log(
    `typing into ${field} of ${path.split('/')[1]}: ${TYPED.length} keys, ${slow.length} of them above 16 ms: ${slow.join(', ')}`,
  )
}

try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await signIn(page, weir)
  const trace = await sendTrace()
  const [project] = await weir.json<{ id: string }[]>('/api/v1/sessions?name=pages')
  await measureStart(page, project?.id ?? '')
  await measureOpen(page, trace)
  await measureTyping(page, `/traces/${trace}`, '#find')
  await measureTyping(page, `/projects/${project?.id}`, '[role=combobox]')
  await measureLarge(page)
} finally {
  await browser.close()
  await weir.stop()
}
