import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { decodeRequest } from '../../src/trace/decode/decode.ts'
import type { RequestHead } from '../../src/trace/decode/decoded.ts'
import type { deriveTraceRun } from '../../src/trace/derive/derive.ts'
import type { readFragments, StoredFragment } from '../../src/trace/rows/fragment.ts'
import type { toRow } from '../../src/trace/rows/trace-run-row.ts'
import { requestHead } from '../../test/support/traces/wire-body.ts'
import { BOUNDARY, createTraceBodies } from './trace-bodies.ts'

const SPANS = ['otel-openllmetry', 'otel-openinference-proto', 'otel-vercel-proto', 'otlp-indexed-old']
/** Share of the passes at the beginning that are not counted, because code is still being compiled in them. */
const WARM_UP = 1 / 3
const TENTH = 0.1

/** What the benchmarks use of a checkout of Weir. */
export interface Checkout {
  decodeRequest: typeof decodeRequest
  readFragments: typeof readFragments
  deriveTraceRun: typeof deriveTraceRun
  toRow: typeof toRow
  processors: Parameters<typeof deriveTraceRun>[1]['processors']
}

/** The code of the checkout at `root`. */
export async function loadCheckout(root: string): Promise<Checkout> {
  const part = (path: string): Promise<object> => import(`${root}/${path}`) as Promise<object>
  const { builtInProcessors: processors } = (await part('processors/index.ts')) as {
    builtInProcessors: Checkout['processors']
  }
  const parts = await Promise.all(
    ['decode/decode', 'rows/fragment', 'derive/derive', 'rows/trace-run-row'].map((name) =>
      part(`src/trace/${name}.ts`),
    ),
  )
  return { ...(Object.assign({}, ...parts) as Checkout), processors }
}

export type Request = readonly [head: RequestHead, body: Uint8Array]

/** Multipart bodies of 24 traces. */
export function nativeRequests(): Request[] {
  const next = createTraceBodies(4)
  const type = requestHead({ content_type: `multipart/form-data; boundary=${BOUNDARY}` })
  return Array.from({ length: 6 }, next).flatMap(({ creates, updates }): Request[] => [
    [type, creates],
    [type, updates],
  ])
}

/** Bodies of OpenTelemetry exporters. */
export function spanRequests(): Request[] {
  return SPANS.flatMap((name): Request[] => {
    const at = (file: string): string =>
      fileURLToPath(new URL(`../../test/corpus/${name}/${file}`, import.meta.url))
    if (!existsSync(at('request-1.body'))) return []
    const { headers } = JSON.parse(readFileSync(at('request-1.headers.json'), 'utf8')) as {
      headers: Record<string, string>
    }
    return [
      [
        requestHead({ kind: 'otlp-traces', content_type: headers['content-type'] ?? '' }),
        readFileSync(at('request-1.body')),
      ],
    ]
  })
}

/** The fragments of each TraceRun. */
export function fragmentsOf({ decodeRequest: decode, readFragments: read }: Checkout, requests: Request[]) {
  const runs = new Map<string, StoredFragment[]>()
  for (const [type, body] of requests)
    for (const fragment of read(decode(type, body).rows))
      runs.set(fragment.run_id, [...(runs.get(fragment.run_id) ?? []), fragment])
  return [...runs.values()]
}

/** One pass decodes every request. */
export function decoding({ decodeRequest: decode }: Checkout, requests: Request[]): () => void {
  return () => {
    for (const [type, body] of requests) decode(type, body)
  }
}

/** One pass derives every TraceRun of the requests. */
export function deriving(checkout: Checkout, requests: Request[]): () => void {
  const none = { tokens: 0, encoding: '', sampled: false }
  const context = {
    processors: checkout.processors,
    startEstimate: () => ({ input: () => none, output: () => none }),
    parentOf: () => undefined,
  }
  const all = fragmentsOf(checkout, requests)
  return () => {
    for (const fragments of all) checkout.toRow(checkout.deriveTraceRun(fragments, context))
  }
}

/** Microseconds of one pass. */
export function timed(pass: () => void): number {
  const from = performance.now()
  pass()
  return (performance.now() - from) * 1000
}

/** The 10th percentile of all passes after the warm-up. */
export function lowerTenth(passes: readonly number[]): number {
  const counted = passes.slice(Math.floor(passes.length * WARM_UP)).toSorted((a, b) => a - b)
  return counted[Math.floor(counted.length * TENTH)]!
}
