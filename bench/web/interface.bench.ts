import { randomUUID } from 'node:crypto'
import { Client, RunTree } from 'langsmith'
import { type Browser, chromium, type Page } from 'playwright-core'
import { drained, startWeir } from '../../test/support/servers/server.ts'
import { signIn } from '../../test/support/servers/web-interface.ts'

// Measures the web interface in Chromium: a large trace, and the time from the SDK's flush until the row is shown.
// Needs `ui/dist` (scripts/ui/build.ts):
//   node scripts/launch.mjs bench/web/interface.bench.ts [runs] [flushes]
const RUNS = Number(process.argv[2] ?? 50_000)
const FLUSHES = Number(process.argv[3] ?? 40)
const BATCH = 1000
const CHILDREN = 50
const FRAMES = 200
/**
 * Levels of a deep trace. The `dotted_order` of a run has the ids of all runs above it. For 50,000 runs in chains of
 * 100 these are 150 MB; in chains of 1,000 they would be 1.5 GB.
 */
const LEVELS = 100
/** In a trace with missing parents, runs whose number is a multiple of this have a parent that was never sent. */
const ORPHANS = 10

/** Shapes of traces: up to CHILDREN runs below each run, chains, missing parents, no ends. */
const SHAPES = ['wide', 'deep', 'orphaned', 'running'] as const
type Shape = (typeof SHAPES)[number]

function parentOf(shape: Shape, ids: readonly string[], place: number): string | undefined {
  if (place === 0) return undefined
  if (shape === 'deep') return ids[place % LEVELS === 0 ? 0 : place - 1]
  if (shape === 'orphaned' && place % ORPHANS === 0) return randomUUID()
  return ids[Math.floor((place - 1) / CHILDREN)]
}

/** Scrolls the tree for some frames; resolves with the milliseconds of each. */
const SCROLL = `new Promise((resolve) => {
  const tree = document.querySelector('#tree')
  const times = []
  let last = performance.now()
  const step = (now) => {
    times.push(now - last)
    last = now
    tree.scrollTop += 600
    if (times.length < ${FRAMES}) requestAnimationFrame(step)
    else resolve(times.slice(1))
  }
  requestAnimationFrame(step)
})`

/** Looks for a text in every frame, because Playwright's locators look only every 500 ms. */
const seen = (text: string): string => `new Promise((resolve) => {
  const look = () => document.body.textContent.includes('${text}') ? resolve() : requestAnimationFrame(look)
  look()
})`

const weir = await startWeir({})
const browser: Browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--enable-precise-memory-info'],
})

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return Math.round((sorted[Math.floor(share * (sorted.length - 1))] ?? 0) * 10) / 10
}

async function sendLargeTrace(shape: Shape): Promise<string> {
  const ids = Array.from({ length: RUNS }, () => randomUUID())
  const [trace_id = ''] = ids
  const start = Date.now() - RUNS
  for (let from = 0; from < RUNS; from += BATCH) {
    const post = ids.slice(from, from + BATCH).map((id, at) => {
      const place = from + at
      const parent = parentOf(shape, ids, place)
      const time = new Date(start + place).toISOString()
      const end_time = new Date(start + place + 5).toISOString()
      const run_type = place % 3 === 0 ? 'chain' : 'tool'
      const run = {
        id,
        trace_id,
        name: `step ${place}`,
        run_type,
        start_time: time,
        ...(shape !== 'running' && { end_time }),
        inputs: { place },
      }
      return { ...run, session_name: 'large', ...(parent !== undefined && { parent_run_id: parent }) }
    })
    const body = JSON.stringify({ post, patch: [] })
    const headers = { 'content-type': 'application/json' }
    const answer = await weir.request('/api/v1/runs/batch', { method: 'POST', headers, body })
    if (answer.status !== 202) throw new Error(`a batch was answered ${answer.status}`)
  }
  await drained(weir)
  return trace_id
}

async function measureTrace(page: Page, shape: Shape): Promise<void> {
  const trace = await sendLargeTrace(shape)
  const started = performance.now()
  await page.goto(`${weir.url}/app/traces/${trace}`)
  await page.getByRole('treegrid').getByRole('row').nth(5).waitFor({ timeout: 120_000 })
  const drawn = Math.round(performance.now() - started)
  const frames = await page.evaluate<number[]>(SCROLL)
  const nodes = await page.evaluate<number>('document.querySelectorAll("*").length')
  const heap = await page.evaluate<number>('performance.memory.usedJSHeapSize')
  console.log(
    `${shape} trace of ${RUNS} runs: drawn after ${drawn} ms; frames p50 ${percentile(frames, 0.5)} ms, p95 ${percentile(frames, 0.95)} ms; ${nodes} elements; heap ${Math.round(heap / 1e6)} MB`,
  )
}

async function measureFlush(page: Page): Promise<void> {
  const client = new Client({ apiUrl: weir.url, apiKey: weir.key })
  const send = async (name: string): Promise<void> => {
    const run = new RunTree({ name, run_type: 'chain', client, project_name: 'flushes', inputs: {} })
    await run.postRun()
    await client.awaitPendingTraceBatches()
  }
  await send('first')
  await drained(weir)
  const [project] = await weir.json<{ id: string }[]>('/api/v1/sessions?name=flushes')
  await page.goto(`${weir.url}/app/projects/${project?.id}`)
  await page.getByText('Live', { exact: true }).waitFor()
  const times: number[] = []
  for (let flush = 0; flush < FLUSHES; flush += 1) {
    await send(`flush ${flush}.`)
    const flushed = performance.now()
    await page.evaluate(seen(`flush ${flush}.`))
    times.push(performance.now() - flushed)
  }
  console.log(
    `flush to row, ${FLUSHES} times: p50 ${percentile(times, 0.5)} ms, p95 ${percentile(times, 0.95)} ms`,
  )
}

try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await signIn(page, weir)
  await measureFlush(page)
  for (const shape of SHAPES) await measureTrace(page, shape)
} finally {
  await browser.close()
  await weir.stop()
}
