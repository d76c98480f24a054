import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeRequest } from '../../src/trace/decode.ts'
import { jsonExport, jsonSpan, otlpHead, spanId } from '../support/otlp-body.ts'
import { type Counted, randomOf, runWorld } from '../support/usage-world.ts'
import { tries } from '../support/properties.ts'

const T0 = Date.UTC(2026, 10, 20, 9)

interface SentSpan {
  n: number
  /** Another span of the list; undefined for one without a parent. */
  parent: number | undefined
  second: number
}

/** A trace in which some spans have no parent. */
const trace: fc.Arbitrary<SentSpan[]> = fc
  .array(fc.record({ parent: fc.option(fc.nat(), { freq: 2 }), second: fc.integer({ min: 10, max: 14 }) }), {
    minLength: 2,
    maxLength: 7,
  })
  .map((all) =>
    all.map(({ parent, second }, n) => ({
      n,
      parent: parent === null || n === 0 ? undefined : parent % n,
      second,
    })),
  )

function encode(spans: readonly SentSpan[]): Uint8Array {
  const parts = spans.map(({ n, parent, second }) => {
    const span = jsonSpan(n, {
      startTimeUnixNano: `17951661${second}000000000`,
      ...(parent === undefined ? {} : { parentSpanId: spanId(parent) }),
    })
    return decodeRequest(otlpHead({ received_at: T0 + n }), jsonExport([span])).rows
  })
  return Buffer.concat(parts)
}

/** Each span once or twice, in any order, cut into batches, spread over processes. */
function scattered(spans: readonly SentSpan[], seed: number, processes: number, deaths: number) {
  const random = randomOf(seed)
  const sent = spans.flatMap((span) => (random() < 0.2 ? [span, span] : [span]))
  const lists: Uint8Array[][] = Array.from({ length: processes }, () => [])
  const batch: SentSpan[] = []
  for (const { span } of sent
    .map((span) => ({ span, order: random() }))
    .toSorted((a, b) => a.order - b.order)) {
    batch.push(span)
    if (random() < 0.6) lists[Math.floor(random() * processes)]!.push(encode(batch.splice(0)))
  }
  if (batch.length > 0) lists[0]!.push(encode(batch))
  return runWorld({ seed, processes: lists, deaths })
}

const shown = ({ rows, traces }: Counted) => ({
  traces: [...traces.keys()],
  rows: rows
    .map(({ run_id, parent_run_id, dotted_order, name, issues }) =>
      [run_id, parent_run_id, dotted_order, name, ...issues].join(' '),
    )
    .toSorted(),
})

describe('several spans without a parent in one trace', () => {
  it('make the same rows and one counted trace, whoever stores which of them, in whatever order', async () => {
    await fc.assert(
      fc.asyncProperty(
        trace,
        fc.integer(),
        fc.integer({ min: 1, max: 3 }),
        fc.nat(2),
        async (spans, seed, processes, deaths) => {
          const want = await runWorld({ seed: 1, processes: [[encode(spans)]], deaths: 0 })
          expect(want.rows).toHaveLength(spans.length)
          const got = await scattered(spans, seed, processes, deaths)
          expect(got.doubles).toEqual([])
          expect(shown(got)).toEqual(shown(want))
        },
      ),
      tries(100),
    )
  })
})
