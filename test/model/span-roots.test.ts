import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeRequest } from '../../src/trace/decode/decode.ts'
import { jsonExport, jsonSpan, otlpHead, spanId } from '../support/traces/otlp-body.ts'
import type { Counted } from '../support/usage/world.ts'
import { tries } from '../support/properties.ts'
import { runScattered, runTogether, scatterings } from '../support/traces/scattered-spans.ts'

const T0 = Date.UTC(2026, 10, 20, 9)

interface SentSpan {
  n: number
  /** Index of the parent span in the list; undefined for a root. */
  parent: number | undefined
  second: number
}

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

const shown = ({ rows, traces }: Counted) => ({
  traces: [...traces.keys()],
  rows: rows
    .map(({ run_id, parent_run_id, dotted_order, name, issues }) =>
      [run_id, parent_run_id, dotted_order, name, ...issues].join(' '),
    )
    .toSorted(),
})

describe('several spans without a parent in one trace', () => {
  it('OTLP-7: result in the same rows and one counted trace, in any order and distribution over processes', async () => {
    await fc.assert(
      fc.asyncProperty(trace, scatterings, async (spans, scattering) => {
        const want = await runTogether(spans, encode)
        expect(want.rows).toHaveLength(spans.length)
        const got = await runScattered(spans, encode, scattering)
        expect(got.doubles).toEqual([])
        expect(shown(got)).toEqual(shown(want))
      }),
      tries(100),
    )
  })
})
