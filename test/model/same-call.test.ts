import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeRequest } from '../../src/trace/decode/decode.ts'
import { rollUp } from '../../src/trace/derive/roll-up.ts'
import { attributes, jsonExport, jsonSpan, otlpHead, spanId } from '../support/traces/otlp-body.ts'
import { tries } from '../support/properties.ts'
import { runScattered, runTogether, scatterings } from '../support/traces/scattered-spans.ts'
import type { Counted } from '../support/usage/world.ts'

const T0 = Date.UTC(2026, 10, 20, 9)

interface SentSpan {
  n: number
  /** Index of another span of the list; undefined for the root. */
  parent: number | undefined
  isCall: boolean
  response: number
  model: string
  second: number
  seconds: number
  /** Whether the span has the tokens of its call. */
  counts: boolean
}

/** A trace in which several spans show one call; they may be siblings, or one above the other. */
const trace: fc.Arbitrary<SentSpan[]> = fc
  .array(
    fc.record({
      parent: fc.nat(),
      isCall: fc.boolean(),
      response: fc.nat(2),
      model: fc.constantFrom('gpt-4o', 'gpt-4o-2024-08-06', 'gpt-4.1'),
      second: fc.integer({ min: 10, max: 16 }),
      seconds: fc.integer({ min: 0, max: 3 }),
      counts: fc.boolean(),
    }),
    { minLength: 2, maxLength: 8 },
  )
  .map((all) =>
    all.map((span, n) => ({
      ...span,
      n,
      parent: n === 0 ? undefined : span.parent % n,
      isCall: n > 0 && span.isCall,
    })),
  )

function toSpan({ n, parent, isCall, response, model, second, seconds, counts }: SentSpan): object {
  const says = {
    'gen_ai.operation.name': isCall ? 'chat' : 'invoke_agent',
    'gen_ai.response.id': `response-of-vendor-${response}`,
    'gen_ai.request.model': model,
    ...(counts && { 'gen_ai.usage.input_tokens': n + 1, 'gen_ai.usage.output_tokens': 100 * (n + 1) }),
  }
  return jsonSpan(n, {
    startTimeUnixNano: `17951661${second}000000000`,
    endTimeUnixNano: `17951661${second + seconds}000000000`,
    attributes: attributes(says),
    ...(parent === undefined ? {} : { parentSpanId: spanId(parent) }),
  })
}

const encode = (spans: readonly SentSpan[]): Uint8Array =>
  Buffer.concat(
    spans.map(
      (span) => decodeRequest(otlpHead({ received_at: T0 + span.n }), jsonExport([toSpan(span)])).rows,
    ),
  )

/** The figures of a trace: its totals, those below each run, and the runs that show the same call as another run. */
function shown({ rows }: Counted) {
  const { trace: totals, of, same_calls } = rollUp(rows)
  const ids = rows.map(({ run_id }) => run_id).toSorted()
  return { totals, below: ids.map((id) => [id, of(id)]), same_calls: Object.fromEntries(same_calls) }
}

describe('a call that several spans show', () => {
  it('counts once, for any order of the spans, any processes and any repetition', async () => {
    await fc.assert(
      fc.asyncProperty(trace, scatterings, async (spans, scattering) => {
        const want = await runTogether(spans, encode)
        expect(shown(await runScattered(spans, encode, scattering))).toEqual(shown(want))
      }),
      tries(60),
    )
  })

  it('gives as many calls as there are responses, if the times of each call overlap', async () => {
    await fc.assert(
      fc.asyncProperty(trace, async (spans) => {
        const beside = spans.map((span) => ({
          ...span,
          parent: span.n === 0 ? undefined : 0,
          second: 10,
          seconds: 3,
        }))
        const calls = beside.filter(({ isCall }) => isCall)
        const responses = new Set(calls.map(({ response, model }) => `${response} ${model.slice(0, 6)}`))
        const { rows } = await runTogether(beside, encode)
        expect(rollUp(rows).trace.llm_runs).toBe(responses.size)
      }),
      tries(40),
    )
  })
})
