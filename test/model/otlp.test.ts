import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeRequest } from '../../src/trace/decode/decode.ts'
import type { Decoded } from '../../src/trace/decode/decoded.ts'
import { readFragments } from '../../src/trace/rows/fragment.ts'
import { mergeFragments } from '../../src/trace/derive/merge.ts'
import { fuzzDecode } from '../support/fuzz/decode.ts'
import { otlpHead } from '../support/traces/otlp-body.ts'
import { protoType } from '../support/traces/otlp-proto.ts'
import { otlpRequests } from '../support/traces/wire-body.ts'
import { tries } from '../support/properties.ts'
import { inLong } from '../support/length.ts'

const TRACES = protoType('ExportTraceServiceRequest')
const LOGS = protoType('ExportLogsServiceRequest')

const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.integer().map(BigInt),
  fc.constantFrom(0n, 127n, 128n, 2n ** 53n - 1n, 2n ** 53n, -1n, -(2n ** 53n), 2n ** 56n, 2n ** 62n),
)
const { value: anyValue } = fc.letrec<{ value: object; entry: object }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ stringValue: fc.string({ unit: 'binary' }) }),
    fc.record({ boolValue: fc.boolean() }),
    fc.record({ intValue: int64.map(String) }),
    fc.record({ doubleValue: fc.double() }),
    fc.record({ bytesValue: fc.uint8Array({ maxLength: 20 }) }),
    fc.constant({}),
    fc.record({ arrayValue: fc.record({ values: fc.array(tie('value'), { maxLength: 4 }) }) }),
    fc.record({ kvlistValue: fc.record({ values: fc.array(tie('entry'), { maxLength: 4 }) }) }),
  ),
  entry: fc.record({ key: fc.string({ unit: 'binary' }), value: tie('value') }, { requiredKeys: ['key'] }),
}))
const future = {
  future1: fc.nat(),
  future2: fc.nat(),
  future3: fc.string(),
  future4: fc.nat(),
  future5: fc.record({ a: fc.string(), b: fc.array(fc.record({ a: fc.string() }), { maxLength: 2 }) }),
}

function message<T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<object> {
  return fc.record({ ...fields, ...future }, { requiredKeys: [] })
}

const attributes = fc.array(message({ key: fc.string({ unit: 'binary' }), value: anyValue }), {
  maxLength: 6,
})
const id = (size: number) => fc.uint8Array({ minLength: size, maxLength: size })
const traceId = fc.oneof(
  { weight: 12, arbitrary: id(16) },
  fc.constantFrom(new Uint8Array(16), new Uint8Array(3)),
)
const spanId = fc.oneof({ weight: 12, arbitrary: id(8) }, fc.constant(new Uint8Array(8)))
const nanos = fc.oneof(
  { weight: 12, arbitrary: fc.bigInt({ min: 1_500_000_000_000_000_000n, max: 2_000_000_000_000_000_000n }) },
  fc.constantFrom(0n, 999n, 2n ** 64n - 1n),
)
const time = nanos.map(String)
const text = fc.string({ unit: 'binary' })
const span = message({
  traceId,
  spanId,
  parentSpanId: spanId,
  traceState: text,
  name: text,
  kind: fc.nat({ max: 6 }),
  startTimeUnixNano: time,
  endTimeUnixNano: time,
  attributes,
  events: fc.array(message({ timeUnixNano: time, name: text, attributes }), { maxLength: 3 }),
  links: fc.array(message({ traceId: id(16), spanId: id(8), attributes }), { maxLength: 2 }),
  status: message({ message: text, code: fc.nat({ max: 3 }) }),
  flags: fc.nat(),
})
const log = message({
  traceId,
  spanId,
  timeUnixNano: time,
  observedTimeUnixNano: time,
  eventName: fc.constantFrom('gen_ai.choice', 'other'),
  body: anyValue,
  attributes,
})
const scope = message({ name: text, version: text, attributes })
const resource = message({ attributes })
const traceRequest = message({
  resourceSpans: fc.array(
    message({
      resource,
      scopeSpans: fc.array(message({ scope, spans: fc.array(span, { maxLength: 4 }) }), { maxLength: 2 }),
    }),
    { maxLength: 3 },
  ),
})
const logRequest = message({
  resourceLogs: fc.array(
    message({
      resource,
      scopeLogs: fc.array(message({ scope, logRecords: fc.array(log, { maxLength: 4 }) }), { maxLength: 2 }),
    }),
    { maxLength: 3 },
  ),
})

function readable({ rows, count, rejected, projects }: Decoded): unknown {
  const fragments = [...readFragments(rows)].map((fragment) => {
    const merged = mergeFragments([fragment])
    expect(merged.issues).toEqual([])
    return { rank: fragment.rank, head: merged.head, extra: merged.extra, attachments: merged.attachments }
  })
  expect(fragments.length).toBe(count)
  const named = projects.map(({ session_name, session_id, offsets }) => [
    session_name,
    session_id,
    offsets.length,
  ])
  return { fragments, rejected, named }
}

describe('OTLP-5: the reader of protobuf', () => {
  inLong(() => {
    it.each([
      ['spans', 'otlp-traces', TRACES, traceRequest],
      ['log records', 'otlp-logs', LOGS, logRequest],
    ] as const)('reads %s as protobufjs does, whose result is sent as JSON', (_, kind, type, request) => {
      const seen = { stored: 0, rejected: 0 }
      fc.assert(
        fc.property(request, (sent) => {
          const bytes = type.encode(sent)
          const json = Buffer.from(JSON.stringify(type.decode(bytes)))
          const own = decodeRequest(otlpHead({ kind, content_type: 'application/x-protobuf' }), bytes)
          expect(readable(own)).toEqual(readable(decodeRequest(otlpHead({ kind }), json)))
          seen.stored += own.count
          seen.rejected += own.rejected.length
        }),
        tries(1400),
      )
      expect(Math.min(seen.stored, seen.rejected)).toBeGreaterThan(500)
    })
  })
})

describe('OTLP-5: mutated exports', () => {
  it('throw only AppErrors and take less than a second of CPU each', () => {
    const report = fuzzDecode(20_261_121, 3000, otlpRequests())
    expect(report.slowest_ms).toBeLessThan(1000)
    expect(report.fragments).toBeGreaterThan(500)
    expect(report.rejected).toBeGreaterThan(0)
    expect(Object.keys(report.errors).sort()).toEqual(
      expect.arrayContaining(['invalid_encoding', 'invalid_otlp']),
    )
  })
})
