import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dashed, NIL_UUID } from '../../src/base/ids.ts'
import { decodeRequest } from '../../src/trace/decode/decode.ts'
import { dottedSegment } from '../../src/trace/derive/lineage/dotted-order.ts'
import { spanUuid } from '../../src/trace/otel/span/ids.ts'
import { jsonExport, jsonSpan, otlpHead, spanId, TRACE } from '../support/traces/otlp-body.ts'
import type { Counted } from '../support/usage/world.ts'
import { tries } from '../support/properties.ts'
import { runScattered, runTogether, scatterings } from '../support/traces/scattered-spans.ts'

const T0 = Date.UTC(2026, 10, 20, 9)
const START = Date.UTC(2026, 10, 20, 9, 15, 10) * 1000
const filters = [{ name: 'web *' }]
const span_filters = [{ project_id: NIL_UUID, project_name: 'default', filters }]

interface SentSpan {
  n: number
  /** Index of the parent span in the list; undefined for a root. */
  parent: number | undefined
  isFiltered: boolean
  second: number
}

/** Traces with up to three roots, of which any span may be filtered. */
const trace: fc.Arbitrary<SentSpan[]> = fc
  .array(
    fc.record({
      parent: fc.option(fc.nat(), { freq: 5 }),
      isFiltered: fc.boolean(),
      second: fc.integer({ min: 0, max: 9 }),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((all) =>
    all.map((span, n) => ({
      ...span,
      n,
      parent: span.parent === null || n === 0 ? undefined : span.parent % n,
    })),
  )

function encode(spans: readonly SentSpan[]): Uint8Array {
  const parts = spans.map(({ n, parent, isFiltered, second }) => {
    const span = jsonSpan(n, {
      name: isFiltered ? `web ${n}` : `kept ${n}`,
      startTimeUnixNano: `${(START / 1_000_000 + second).toFixed(0)}000000000`,
      ...(parent === undefined ? {} : { parentSpanId: spanId(parent) }),
    })
    return decodeRequest(otlpHead({ received_at: T0 + n, span_filters }), jsonExport([span])).rows
  })
  return Buffer.concat(parts)
}

/** The rows of the kept spans as the rule says: each below its nearest kept ancestor. */
function expected(spans: readonly SentSpan[]): string[] {
  const roots = spans.filter(({ parent, isFiltered }) => parent === undefined && !isFiltered)
  const [first] = roots.toSorted((a, b) => a.second - b.second || a.n - b.n)
  const idOf = ({ n }: SentSpan): string => (n === first?.n ? dashed(TRACE) : spanUuid(spanId(n)))
  const above = (span: SentSpan): SentSpan | undefined => {
    const parent = span.parent === undefined ? undefined : spans[span.parent]!
    return parent?.isFiltered ? above(parent) : parent
  }
  const orderOf = (span: SentSpan): string => {
    const own = dottedSegment(START + span.second * 1_000_000, idOf(span))
    const parent = above(span)
    return parent === undefined ? own : `${orderOf(parent)}.${own}`
  }
  return spans
    .filter(({ isFiltered }) => !isFiltered)
    .map((span) => {
      const parent = above(span)
      return [
        idOf(span),
        parent === undefined ? NIL_UUID : idOf(parent),
        orderOf(span),
        `kept ${span.n}`,
      ].join(' ')
    })
    .toSorted()
}

const rowsOf = ({ rows }: Counted): string[] =>
  rows
    .map(({ run_id, parent_run_id, dotted_order, name }) =>
      [run_id, parent_run_id, dotted_order, name].join(' '),
    )
    .toSorted()

function check(counted: Counted, spans: readonly SentSpan[]): void {
  expect(rowsOf(counted)).toEqual(expected(spans))
  expect(counted.rows.flatMap(({ issues }) => issues)).not.toContain('parent_unknown')
  expect([...counted.traces.keys()]).toHaveLength(spans.every(({ isFiltered }) => isFiltered) ? 0 : 1)
  expect(counted.doubles).toEqual([])
}

describe('spans that a filter leaves out', () => {
  it('U1, OTLP-7: have no row and count no trace; those below them are below the nearest kept ancestor', async () => {
    await fc.assert(
      fc.asyncProperty(trace, async (spans) => check(await runTogether(spans, encode), spans)),
      tries(200),
    )
  })

  it('U1, OTLP-7: the same in any order, in any batches and distributed over processes', async () => {
    await fc.assert(
      fc.asyncProperty(trace, scatterings, async (spans, scattering) =>
        check(await runScattered(spans, encode, scattering), spans),
      ),
      tries(200),
    )
  })
})
