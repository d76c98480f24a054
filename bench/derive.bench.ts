import { fileURLToPath } from 'node:url'
import {
  type Checkout,
  decoding,
  deriving,
  loadCheckout,
  lowerTenth,
  nativeRequests,
  spanRequests,
  timed,
} from './load/pipeline-work.ts'

// Times of decoding requests and of deriving TraceRuns in this checkout, as ratios to another checkout of Weir. Both
// are loaded in one process, and their passes alternate. Other work on the machine only makes a pass longer, so the
// 10th percentiles of all passes are compared:
//   node scripts/launch.mjs bench/derive.bench.ts <other checkout> [passes]
function worksOf(checkout: Checkout): Record<string, () => void> {
  const [native, spans] = [nativeRequests(), spanRequests()]
  return {
    'native decode': decoding(checkout, native),
    'native derive': deriving(checkout, native),
    'OTLP decode': decoding(checkout, spans),
    'OTLP derive': deriving(checkout, spans),
  }
}

const [other, passes = '300'] = process.argv.slice(2)
if (other === undefined) throw new Error('usage: bench/derive.bench.ts <other checkout> [passes]')
const [ours, theirs] = [
  worksOf(await loadCheckout(fileURLToPath(new URL('..', import.meta.url)))),
  worksOf(await loadCheckout(other)),
]
const times = new Map(
  Object.keys(ours).map((title) => [title, { ours: [] as number[], theirs: [] as number[] }]),
)
for (let i = 0; i < Number(passes); i++)
  for (const [title, { ours: mine, theirs: others }] of times) {
    // Each checkout goes first in half of the passes.
    if (i % 2 === 0) mine.push(timed(ours[title]!))
    others.push(timed(theirs[title]!))
    if (i % 2 === 1) mine.push(timed(ours[title]!))
  }
for (const [title, { ours: mine, theirs: others }] of times) {
  const ratio = Number((lowerTenth(mine) / lowerTenth(others)).toFixed(3))
  console.log(JSON.stringify({ title, ratio, micros: Math.round(lowerTenth(mine)) }))
}
