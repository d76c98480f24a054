import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeRequest } from '../../src/trace/decode/decode.ts'
import { patchUuid } from '../../src/trace/rows/row-binary.ts'
import { jsonExport, jsonSpan, otlpHead, spanId } from '../support/traces/otlp-body.ts'
import { tries } from '../support/properties.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { runWorld } from '../support/usage/world.ts'

const T0 = Date.UTC(2026, 10, 20, 9)
const PROJECTS = ['0195f3a0-0000-7000-8000-0000000000a1', '0195f3a0-0000-7000-8000-0000000000a2'] as const

/** One span as one of a collector's exporters sends it. The name of its project is replaced by the project's id. */
function exported(n: number, exporter: number, received_at: number): Uint8Array {
  const head = otlpHead({ received_at, project: `project-${exporter}` })
  const span = jsonSpan(n, n === 0 ? {} : { parentSpanId: spanId(0) })
  const decoded = decodeRequest(head, jsonExport([span]))
  for (const { session_name, offsets } of decoded.projects) {
    expect(session_name).toBe(`project-${exporter}`)
    for (const offset of offsets) patchUuid(decoded.rows, offset, PROJECTS[exporter]!)
  }
  return decoded.rows
}

describe('spans that a collector sends under two projects', () => {
  it('OTLP-9: are in one project, each once, in any order and number of stores', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.integer(),
        fc.integer({ min: 1, max: 3 }),
        fc.nat(2),
        async (count, seed, processes, deaths) => {
          const random = seededRandom(seed)
          const sent = Array.from({ length: count * 2 }, (_, i) => [i >> 1, i % 2] as const)
            .flatMap((one) => (random() < 0.2 ? [one, one] : [one]))
            .map((one) => ({ one, order: random() }))
            .toSorted((a, b) => a.order - b.order)
          const lists: Uint8Array[][] = Array.from({ length: processes }, () => [])
          // They are usually received in the same millisecond.
          for (const { one } of sent)
            lists[Math.floor(random() * processes)]!.push(exported(...one, T0 + Math.floor(random() * 1.5)))
          const { rows, traces } = await runWorld({ seed, processes: lists, deaths })
          expect(rows.map(({ name, project_id }) => `${name} in ${project_id}`).toSorted()).toEqual(
            Array.from({ length: count }, (_, n) => `span ${n} in ${PROJECTS[0]}`),
          )
          expect(traces.size).toBe(1)
        },
      ),
      tries(80),
    )
  })
})
