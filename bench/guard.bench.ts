import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startWeir } from '../test/support/servers/weir-process.ts'
import { temporaryDir } from '../test/support/stores/clickhouse/embedded-clickhouse.ts'
import { startBareGraphServer } from './load/bare-graph-server.ts'
import {
  decoding,
  deriving,
  fragmentsOf,
  loadCheckout,
  lowerTenth,
  nativeRequests,
  spanRequests,
  timed,
} from './load/pipeline-work.ts'

// Whether this checkout has become slower: three ratios, each to work of the same process that does not change, all
// warm. Fails if one is above MOST times the kept one of guard.json. Ends with `N passed, N failed`:
//   node scripts/launch.mjs bench/guard.bench.ts [--keep]
// --keep writes the measured ratios to guard.json.
const MOST = 1.25
const PASSES = 300
const WAITED_RUNS = 400
/** Characters between the braces of a JSON part of a multipart body. */
const PART = /\r\n\r\n(\{.*\})\r\n--/g

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const KEPT = fileURLToPath(new URL('guard.json', import.meta.url))

/** Ratio of two kinds of work, whose passes alternate. */
function ratioOf(work: () => void, floor: () => void): number {
  const times = { work: [] as number[], floor: [] as number[] }
  for (let n = 0; n < PASSES; n++) {
    times.work.push(timed(work))
    times.floor.push(timed(floor))
  }
  return lowerTenth(times.work) / lowerTenth(times.floor)
}

function parsing(texts: readonly string[]): () => void {
  return () => {
    for (const text of texts) JSON.parse(text)
  }
}

/** The JSON texts of all parts of multipart bodies. */
function partsOf(bodies: readonly Uint8Array[]): string[] {
  return bodies.flatMap((body) =>
    [...Buffer.from(body).toString().matchAll(PART)].map(([, text = '']) => text),
  )
}

/**
 * Waited runs over HTTP, one after the other, to the same graph behind a server that does nothing else. Both have the
 * same processes in their way: how fast a machine wakes a process is in both.
 */
async function waitedRunRatio(): Promise<number> {
  const data = await temporaryDir()
  const weir = await startWeir(join(data.dir, 'weir'), {
    GRAPHS: join(ROOT, 'test/fixtures/graphs/langgraph.json'),
    DEPLOYMENT_NAME: 'bench',
  })
  const bare = await startBareGraphServer(join(ROOT, 'test/fixtures/graphs/tokens.mjs'))
  const input = { messages: [{ role: 'user', content: 'hi' }] }
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ assistant_id: 'tokens', input }),
  }
  const floor = { ...init, body: JSON.stringify(input) }
  const times = { run: [] as number[], floor: [] as number[] }
  for (let n = 0; n < WAITED_RUNS; n++) {
    const from = performance.now()
    const run = await weir.json<{ done: boolean }>('/deployments/bench/runs/wait', init)
    const between = performance.now()
    const response = await fetch(bare.url, floor)
    const { done } = (await response.json()) as { done: boolean }
    times.run.push(between - from)
    times.floor.push(performance.now() - between)
    if (!run.done || !done) throw new Error('a waited run did not reach its end')
  }
  await bare[Symbol.asyncDispose]()
  await weir.stop()
  await data.remove()
  return lowerTenth(times.run) / lowerTenth(times.floor)
}

async function measure(): Promise<Record<string, number>> {
  const checkout = await loadCheckout(ROOT)
  const [native, spans] = [nativeRequests(), spanRequests()]
  const spanTexts = fragmentsOf(checkout, spans).map((fragments) => JSON.stringify(fragments))
  return {
    'decode of a multipart body to JSON.parse of its parts': ratioOf(
      decoding(checkout, native),
      parsing(partsOf(native.map(([, body]) => body))),
    ),
    'derive of a span to JSON.parse of its stored form': ratioOf(
      deriving(checkout, spans),
      parsing(spanTexts),
    ),
    "waited run to LangGraph's invoke behind a bare server": await waitedRunRatio(),
  }
}

const kept = JSON.parse(readFileSync(KEPT, 'utf8')) as Record<string, number>
const measured = await measure()
let failed = 0
for (const [title, ratio] of Object.entries(measured)) {
  const before = kept[title]
  const isSlower = before !== undefined && ratio > MOST * before
  if (isSlower) failed += 1
  console.log(`${isSlower ? 'SLOWER' : 'ok    '} ${title}: ${ratio.toFixed(2)} (kept: ${before ?? 'none'})`)
}
if (process.argv.includes('--keep')) {
  const rounded = Object.entries(measured).map(([title, ratio]) => [title, Number(ratio.toFixed(2))])
  writeFileSync(KEPT, `${JSON.stringify(Object.fromEntries(rounded), null, 2)}\n`)
}
console.log(`${Object.keys(measured).length - failed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
