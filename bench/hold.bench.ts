import os from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { temporaryDir } from '../test/support/stores/clickhouse/embedded-clickhouse.ts'
import { startWeir } from '../test/support/servers/weir-process.ts'

// Delays of the server while ten clients send and read values of 19 MB, while many crons are due at the same time, and
// while heavy filters run. Prints the longest turn of the server's event loop and the times of `/ok` for each of these:
//   node scripts/launch.mjs bench/hold.bench.ts [values,crons,filters]
const PARTS = new Set((process.argv[2] ?? 'values,crons,filters').split(','))
const CLIENTS = 10
const VALUE_BYTES = 19_000_000
const CRONS = 2_000
const FILTERS = 30
const TRACES = { batches: 40, each: 500 }
const DEPLOYMENT = '/deployments/bench'

const folder = await temporaryDir()
const weir = await startWeir(folder.dir, {
  GRAPHS: 'test/fixtures/graphs/langgraph.json',
  DEPLOYMENT_NAME: 'bench',
})

/** Sends JSON to the deployment, or to the platform if the path begins with /api; resolves with the status. */
async function send(path: string, method = 'GET', body?: unknown): Promise<number> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const answer = await weir.fetch(path.startsWith('/api') ? path : DEPLOYMENT + path, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(text !== undefined && { body: text }),
  })
  await answer.arrayBuffer()
  return answer.status
}

async function longestTurnMs(): Promise<number> {
  const text = await (await weir.fetch('/metrics')).text()
  return Number(/^nodejs_event_loop_delay_max_seconds (\S+)$/m.exec(text)?.[1]) * 1000
}

/**
 * Runs `work`. Prints the longest turn of the event loop since the last scrape, and the times of `/ok` during the work.
 */
async function measure(what: string, work: () => Promise<unknown>): Promise<void> {
  await longestTurnMs()
  const waits: number[] = []
  let isDone = false
  const probe = async (): Promise<void> => {
    while (!isDone) {
      const asked = performance.now()
      await send('/ok')
      waits.push(performance.now() - asked)
      await delay(10)
    }
  }
  const started = performance.now()
  const probing = probe()
  const outcome = await work()
  const took = performance.now() - started
  isDone = true
  await probing
  const sorted = waits.toSorted((a, b) => a - b)
  const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? 0
  const ms = (value: number): string => value.toFixed(0).padStart(6)
  console.log(
    `${what.padEnd(34)} ${ms(took)} ms, longest turn ${ms(await longestTurnMs())}, /ok p99 ${ms(p99)}, max ${ms(sorted.at(-1) ?? 0)}, load ${os.loadavg()[0]?.toFixed(1)}, ${JSON.stringify(outcome)}`,
  )
}

/** Calls `ask` once for each client at the same time; resolves with the number of responses by status. */
async function together(clients: number, ask: (client: number) => Promise<number>): Promise<object> {
  const statuses = await Promise.all(Array.from({ length: clients }, (_, client) => ask(client)))
  return Object.fromEntries(
    [...new Set(statuses)].map((one) => [one, statuses.filter((s) => s === one).length]),
  )
}

async function values(): Promise<void> {
  const part = '{"a":1,"b":"text of it","c":[1,2,3],"d":{"e":null}}'
  const value = `[${Array.from({ length: Math.floor(VALUE_BYTES / (part.length + 1)) }, () => part).join(',')}]`
  const item = (client: number): string => `{"namespace":["large"],"key":"k${client}","value":{"v":${value}}}`
  await measure('items of 19 MB written', () =>
    together(CLIENTS, (n) => send('/store/items', 'PUT', item(n))),
  )
  await measure('items of 19 MB read', () =>
    together(CLIENTS, (n) => send(`/store/items?namespace=large&key=k${n}`)),
  )
  const thread_id = crypto.randomUUID()
  await send('/threads', 'POST', { thread_id })
  const ids: string[] = []
  const create = `{"assistant_id":"tokens","after_seconds":3600,"input":{"v":${value}}}`
  await measure('runs of 19 MB created', () =>
    together(CLIENTS, async () => {
      const answer = await weir.fetch(`${DEPLOYMENT}/threads/${thread_id}/runs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: create,
      })
      ids.push(((await answer.json()) as { run_id: string }).run_id)
      return answer.status
    }),
  )
  await measure('runs of 19 MB read', () =>
    together(CLIENTS, (n) => send(`/threads/${thread_id}/runs/${ids[n] ?? ''}`)),
  )
}

async function crons(): Promise<void> {
  // Late enough that all crons have been created by then.
  const due = new Date(Math.ceil((Date.now() + 90_000) / 60_000) * 60_000)
  const schedule = `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`
  await measure(`${CRONS} crons created`, async () => {
    for (let n = 0; n < CRONS; n++)
      await send('/runs/crons', 'POST', { assistant_id: 'tokens', schedule, input: { tokens: 1 } })
  })
  await measure(`${CRONS} crons due in a minute`, () => delay(due.getTime() + 60_000 - Date.now()))
}

async function filters(): Promise<void> {
  for (let batch = 0; batch < TRACES.batches; batch++) {
    await send('/api/v1/runs/batch', 'POST', { post: Array.from({ length: TRACES.each }, traceRun) })
  }
  await weir.drained()
  await measure(`${FILTERS} heavy filters`, () =>
    together(FILTERS, (n) => send('/api/v1/runs/query', 'POST', { filter: `search("no such word ${n}")` })),
  )
}

function traceRun(): object {
  const id = crypto.randomUUID()
  const time = new Date().toISOString()
  const dotted_order = `${time.replaceAll(/[-:.]/g, '').replace('Z', '000Z')}${id}`
  const inputs = { question: 'some text '.repeat(100) }
  const times = { start_time: time, end_time: time }
  return { id, trace_id: id, dotted_order, name: 'call', run_type: 'llm', ...times, inputs, outputs: inputs }
}

try {
  if (PARTS.has('values')) await values()
  if (PARTS.has('crons')) await crons()
  if (PARTS.has('filters')) await filters()
} finally {
  await weir.stop()
  await folder.remove()
}
