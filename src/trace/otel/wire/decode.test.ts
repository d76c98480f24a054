import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { codeOf } from '../../../../test/support/traces/decode-request.ts'
import {
  attributes,
  jsonExport,
  jsonLogExport,
  jsonSpan,
  otlpHead,
  START_NS,
  spanId,
  TRACE,
} from '../../../../test/support/traces/otlp-body.ts'
import { plainFragments } from '../../../../test/support/traces/wire-body.ts'
import { dashed } from '../../../base/ids.ts'
import type { JsonObject } from '../../../schema/json.ts'
import { decodeRequest } from '../../decode/decode.ts'
import type { Decoded, RequestHead } from '../../decode/decoded.ts'
import { RANK, readFragments } from '../../rows/fragment.ts'
import { spanUuid } from '../span/ids.ts'
import type { SpanRecord } from '../span/span.ts'
import { readStoredSpan } from './stored-span.ts'

const ROOT = dashed(TRACE)

function decodeSpans(spans: readonly unknown[], changes: Partial<RequestHead> = {}): Decoded {
  return decodeRequest(otlpHead(changes), jsonExport(spans))
}

function stored(decoded: Decoded): { id: string; rank: number; head: JsonObject; span: SpanRecord }[] {
  return [...readFragments(decoded.rows)].map(({ run_id, rank, head, extra }) => ({
    id: run_id,
    rank,
    head: JSON.parse(Buffer.from(head).toString()) as JsonObject,
    span: readStoredSpan(extra) as unknown as SpanRecord,
  }))
}

function spanOf(changes: object): SpanRecord {
  return stored(decodeSpans([jsonSpan(0, changes as JsonObject)]))[0]!.span
}

const codes = ({ rejected }: Decoded): string[] => rejected.map(({ code }) => code)

describe('a span', () => {
  it('becomes a fragment with its ids, its times and the whole span', () => {
    const [root, child] = stored(decodeSpans([jsonSpan(0), jsonSpan(1, { parentSpanId: spanId(0) })]))
    const times = { start_time: '2026-11-20T09:15:33.000Z', end_time: '2026-11-20T09:15:34.500Z' }
    expect(root).toMatchObject({ id: ROOT, rank: RANK.update_with_end })
    expect(root!.head).toEqual({ id: ROOT, trace_id: ROOT, name: 'span 0', ...times, span_id: spanId(0) })
    expect(child!.head).toEqual({
      id: spanUuid(spanId(1)),
      trace_id: ROOT,
      parent_run_id: spanUuid(spanId(0)),
      name: 'span 1',
      ...times,
      span_id: spanId(1),
    })
    expect(child!.span).toEqual({
      trace_id: TRACE,
      span_id: spanId(1),
      parent_span_id: spanId(0),
      name: 'span 1',
      kind: 1,
      scope: {},
      resource: {},
      attributes: {},
      events: [],
      status: { code: 0 },
    })
  })

  it('that has not ended is an update', () => {
    const [fragment] = stored(decodeSpans([jsonSpan(0, { endTimeUnixNano: '0' })]))
    expect(fragment!.rank).toBe(RANK.update)
    expect(fragment!.head).not.toHaveProperty('end_time')
  })

  it('keeps every kind of value', () => {
    const values: [object | null, unknown][] = [
      [{ stringValue: 'a\u0000"é' }, 'a\u0000"é'],
      [{ boolValue: false }, false],
      [{ intValue: '-7' }, -7],
      [{ intValue: 9_007_199_254_740_991 }, 9_007_199_254_740_991],
      [{ intValue: '9007199254740993' }, '9007199254740993'],
      [{ doubleValue: 0.5 }, 0.5],
      [{ doubleValue: 'NaN' }, null],
      [{ bytesValue: 'AQI=' }, 'AQI='],
      [{ arrayValue: { values: [{ stringValue: 'x' }, {}] } }, ['x', null]],
      [{ kvlistValue: { values: [{ key: 'a', value: { int_value: 1 } }] } }, { a: 1 }],
      [{}, null],
      [null, null],
    ]
    const sent = values.map(([value], i) => ({ key: `k${i}`, value }))
    expect(spanOf({ attributes: sent }).attributes).toEqual(
      Object.fromEntries(values.map(([, value], i) => [`k${i}`, value])),
    )
    const named = spanOf({
      attributes: [{ key: '__proto__', value: { kvlistValue: { values: [] } } }],
    }).attributes
    expect(Object.keys(named)).toEqual(['__proto__'])
  })

  it('OTLP-3: is read in every spelling of JSON', () => {
    const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64')
    const plain = jsonSpan(1, {
      parentSpanId: spanId(0),
      kind: 3,
      status: { code: 2, message: 'no' },
      events: [{ name: 'e', timeUnixNano: START_NS }],
    })
    const snake = {
      trace_id: TRACE.toUpperCase(),
      span_id: spanId(1).toUpperCase(),
      parent_span_id: spanId(0),
      name: 'span 1',
      kind: 'SPAN_KIND_CLIENT',
      start_time_unix_nano: Number(START_NS),
      end_time_unix_nano: plain.endTimeUnixNano,
      status: { code: 'STATUS_CODE_ERROR', message: 'no' },
      events: [{ name: 'e', time_unix_nano: Number(START_NS), unknown: 1 }],
      flags: 256,
    }
    const inBase64 = {
      ...plain,
      traceId: base64(TRACE),
      spanId: base64(spanId(1)),
      parentSpanId: base64(spanId(0)),
    }
    const body = (spans: unknown[]): Buffer =>
      Buffer.from(JSON.stringify({ resource_spans: [{ resource: {}, scope_spans: [{ scope: {}, spans }] }] }))
    const [first] = stored(decodeRequest(otlpHead(), jsonExport([plain])))
    expect(stored(decodeRequest(otlpHead(), body([snake])))).toEqual([first])
    expect(stored(decodeRequest(otlpHead(), body([inBase64])))).toEqual([first])
    expect(first!.span.events).toEqual([{ name: 'e', time: '2026-11-20T09:15:33.000Z', attributes: {} }])
  })

  it('keeps links and trace state if it has any', () => {
    const links = [{ traceId: TRACE, spanId: spanId(7), attributes: [] }]
    expect(spanOf({ links, traceState: 'a=b' })).toMatchObject({
      trace_state: 'a=b',
      links: [{ trace_id: TRACE, span_id: spanId(7), attributes: {} }],
    })
  })
})

describe('langsmith.* attributes', () => {
  const id = '018f5a00-0001-7000-8000-0000000000bb'
  const trace = '018f5a00-0000-7000-8000-0000000000aa'
  const order = `20260115T100000000000Z${trace}.20260115T100000100000Z${id}`
  const headOf = (values: Record<string, string | boolean>, span: object = {}) =>
    stored(decodeSpans([jsonSpan(1, { parentSpanId: spanId(0), ...span, attributes: attributes(values) })]))

  it('of the root make it a span without a parent', () => {
    for (const value of ['true', true])
      expect(headOf({ 'langsmith.is_root': value })).toMatchObject([{ id: ROOT }])
    expect(headOf({ 'langsmith.is_root': true })[0]!.head).not.toHaveProperty('parent_run_id')
  })

  it('OTLP-6: of ids are used, and its span id finds them', () => {
    const fragments = headOf({
      'langsmith.span.id': id,
      'langsmith.trace.id': trace,
      'langsmith.span.parent_id': trace,
      'langsmith.span.dotted_order': order,
    })
    expect(fragments).toMatchObject([
      { id: spanUuid(spanId(1)), rank: RANK.update, head: { alias_of: id, span_id: spanId(1) } },
      { id, head: { id, trace_id: trace, parent_run_id: trace, dotted_order: order } },
    ])
  })

  it('of a dotted_order that contradicts the ids are ignored', () => {
    const [fragment] = headOf({ 'langsmith.span.dotted_order': order })
    expect(fragment!.head).not.toHaveProperty('dotted_order')
    expect(fragment!.head).toMatchObject({ parent_run_id: spanUuid(spanId(0)) })
  })

  it('OTLP-9: of the project take precedence over the header, and the header over the resource', () => {
    const resource = { attributes: attributes({ 'langsmith.trace.session_name': 'of the resource' }) }
    const projects = (values: Record<string, string>, project?: string) => {
      const body = jsonExport([jsonSpan(0, { attributes: attributes(values) })], resource)
      return decodeRequest(otlpHead(project === undefined ? {} : { project }), body).projects
    }
    const named = { 'langsmith.trace.session_name': 'of the span' }
    expect(projects(named, 'of the request')).toMatchObject([{ session_name: 'of the span' }])
    expect(projects({}, 'of the request')).toMatchObject([{ session_name: 'of the request' }])
    expect(projects({})).toMatchObject([{ session_name: 'of the resource' }])
    expect(projects({ 'langsmith.trace.session_id': id })).toMatchObject([{ session_id: id }])
    expect(decodeSpans([jsonSpan(0)]).projects).toMatchObject([{ session_name: 'default' }])
  })

  it('of attachments go to the blob store', () => {
    const content = Buffer.from('some bytes').toString('base64')
    const sent = JSON.stringify([{ name: 'note', content, mime_type: 'text/plain' }])
    const decoded = decodeSpans([jsonSpan(0, { attributes: attributes({ 'langsmith.attachments': sent }) })])
    expect(decoded.blobs.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(['some bytes'])
    const [fragment] = plainFragments(decoded)
    expect(JSON.parse(String(fragment!['attachments']))).toMatchObject({
      note: { mime_type: 'text/plain', size: 10 },
    })
    expect(fragment!['extra']).not.toContain(content)
  })

  it('of invalid attachments stay attributes', () => {
    const values = attributes({ 'langsmith.attachments': '[{"name":"x","content":"§"}]' })
    const decoded = decodeSpans([jsonSpan(0, { attributes: values })])
    expect(decoded.blobs).toEqual([])
    expect(stored(decoded)[0]!.span.attributes).toHaveProperty(['langsmith.attachments'])
  })
})

describe('OTLP-4: an invalid span', () => {
  const deep = (levels: number): object =>
    levels === 0 ? { intValue: 1 } : { arrayValue: { values: [deep(levels - 1)] } }

  it.each([
    ['no trace id', { traceId: undefined }, 'invalid_trace_id'],
    ['a trace id of zeros', { traceId: '0'.repeat(32) }, 'invalid_trace_id'],
    ['a short trace id', { traceId: TRACE.slice(2) }, 'invalid_trace_id'],
    ['a trace id that is no hex', { traceId: 'z'.repeat(32) }, 'invalid_trace_id'],
    ['a span id of zeros', { spanId: '0'.repeat(16) }, 'invalid_run_id'],
    ['a long span id', { spanId: TRACE }, 'invalid_run_id'],
    ['a number for a span id', { spanId: 12 }, 'invalid_run_id'],
    ['a short parent id', { parentSpanId: 'abcd' }, 'invalid_parent_run_id'],
    ['no start', { startTimeUnixNano: '0' }, 'missing_field'],
    ['a start that is no time', { startTimeUnixNano: 'soon' }, 'invalid_timestamp'],
    ['an end beyond all times', { endTimeUnixNano: '18446744073709551615' }, 'invalid_timestamp'],
    ['values too deep', { attributes: [{ key: 'a', value: deep(65) }] }, 'invalid_field'],
    [
      'too many attributes',
      { attributes: Array.from({ length: 10_001 }, (_, i) => ({ key: `k${i}`, value: { intValue: i } })) },
      'run_too_large',
    ],
    ['too many events', { events: Array.from({ length: 10_001 }, () => ({})) }, 'run_too_large'],
  ])('with %s is refused, and the others are stored', (_, changes, code) => {
    const decoded = decodeSpans([jsonSpan(0), jsonSpan(1, changes), jsonSpan(2)])
    expect(codes(decoded)).toEqual([code])
    expect(decoded.count).toBe(2)
  })

  it('is one with a value deeper than the limit', () => {
    expect(codes(decodeSpans([jsonSpan(0, { attributes: [{ key: 'a', value: deep(64) }] })]))).toEqual([])
  })

  it('is reported by the id that it would have had', () => {
    const { rejected } = decodeSpans([jsonSpan(1, { startTimeUnixNano: 0 }), jsonSpan(1, { spanId: 'x' })])
    expect(rejected.map(({ run_id }) => run_id)).toEqual([spanUuid(spanId(1)), null])
  })

  it('is one larger than a TraceRun may be', () => {
    const large = jsonSpan(0, { attributes: attributes({ text: 'x'.repeat(2000) }) })
    const limits = { max_body_bytes: 10_000, max_parts: 10, max_part_bytes: 1000 }
    expect(decodeSpans([large, jsonSpan(1)], { limits })).toMatchObject({
      count: 1,
      rejected: [{ code: 'run_too_large', status: 413 }],
    })
  })
})

describe('a body', () => {
  const head = (changes: Partial<RequestHead> = {}): RequestHead => otlpHead(changes)

  it.each(['', '{}', '{"resourceSpans":[]}', '{"resourceSpans":null}', ' \n'])(
    'of %j is empty and valid',
    (body) => {
      expect(decodeRequest(head(), Buffer.from(body))).toMatchObject({ count: 0, rejected: [] })
    },
  )

  it.each(['{not json', '[]', '"x"', 'null', '{"resourceSpans":{}}', '{"resourceSpans":[1]}'])(
    'of %j is not OTLP',
    (body) => {
      expect(codeOf(() => decodeRequest(head(), Buffer.from(body)))).toBe('invalid_otlp')
    },
  )

  it('may be compressed, but must be complete', () => {
    const packed = gzipSync(jsonExport([jsonSpan(0)]))
    const gzip = head({ content_encoding: 'gzip' })
    expect(decodeRequest(gzip, packed).count).toBe(1)
    expect(codeOf(() => decodeRequest(gzip, packed.subarray(0, -9)))).toBe('invalid_encoding')
    expect(codeOf(() => decodeRequest(gzip, Buffer.from('not gzip')))).toBe('invalid_encoding')
  })

  it('must have a content type of OTLP', () => {
    for (const content_type of ['text/plain', '', 'multipart/form-data; boundary=x', 'application/grpc'])
      expect(codeOf(() => decodeRequest(head({ content_type }), Buffer.from('{}')))).toBe(
        'unsupported_media_type',
      )
    for (const content_type of ['application/json; charset=utf-8', ' Application/JSON'])
      expect(decodeRequest(head({ content_type }), jsonExport([jsonSpan(0)])).count).toBe(1)
    expect(decodeRequest(head({ content_type: 'application/protobuf' }), Buffer.alloc(0)).count).toBe(0)
  })

  it('has no more records, resources and scopes than the limit', () => {
    const limits = { max_body_bytes: 1_000_000, max_parts: 5, max_part_bytes: 100_000 }
    const spans = [1, 2, 3].map((n) => jsonSpan(n))
    expect(decodeSpans(spans, { limits }).count).toBe(3)
    expect(codeOf(() => decodeSpans([...spans, jsonSpan(4)], { limits }))).toBe('too_many_parts')
    const empty = Buffer.from(JSON.stringify({ resourceSpans: Array.from({ length: 6 }, () => ({})) }))
    expect(codeOf(() => decodeRequest(head({ limits }), empty))).toBe('too_many_parts')
  })

  it('takes little memory when a large resource is repeated by every span', () => {
    const limits = { max_body_bytes: 200_000, max_parts: 1000, max_part_bytes: 200_000 }
    const resource = { attributes: attributes({ text: 'x'.repeat(50_000) }) }
    const body = jsonExport(
      Array.from({ length: 100 }, (_, i) => jsonSpan(i)),
      resource,
    )
    expect(body.length).toBeLessThan(limits.max_body_bytes)
    expect(codeOf(() => decodeRequest(head({ limits }), body))).toBe('body_too_large')
  })
})

describe('a log record', () => {
  const log = (changes: object = {}): object => ({
    traceId: TRACE,
    spanId: spanId(1),
    timeUnixNano: START_NS,
    eventName: 'gen_ai.user.message',
    attributes: attributes({ 'gen_ai.system': 'openai' }),
    body: { kvlistValue: { values: [{ key: 'content', value: { stringValue: 'hi' } }] } },
    ...changes,
  })
  const decodeLogs = (...logs: unknown[]): Decoded =>
    decodeRequest(otlpHead({ kind: 'otlp-logs' }), jsonLogExport(logs))

  it('of a GenAI span is stored under the span', () => {
    const decoded = decodeLogs(log())
    expect(decoded).toMatchObject({ count: 1, rejected: [], projects: [] })
    const [fragment] = plainFragments(decoded)
    expect(fragment).toMatchObject({ run_id: spanUuid(spanId(1)), rank: RANK.update })
    expect(JSON.parse(String(fragment!['head']))).toEqual({ otel_trace_id: ROOT, span_id: spanId(1) })
    const extra = Object.entries(JSON.parse(String(fragment!['extra'])) as JsonObject)
    expect(extra).toEqual([
      [
        expect.stringMatching(/^otel_log:[0-9a-f]{16}$/),
        {
          name: 'gen_ai.user.message',
          time: '2026-11-20T09:15:33.000Z',
          attributes: { 'gen_ai.system': 'openai' },
          body: { content: 'hi' },
        },
      ],
    ])
  })

  it('is recognised by its attributes as well, and by its observed time', () => {
    const named = log({
      eventName: '',
      timeUnixNano: '0',
      observedTimeUnixNano: START_NS,
      attributes: attributes({ 'event.name': 'gen_ai.choice' }),
    })
    expect(plainFragments(decodeLogs(named))[0]!['extra']).toContain(
      '{"name":"gen_ai.choice","time":"2026-11-20T09:15:33.000Z"',
    )
  })

  it.each([
    ['of something else', { eventName: 'started', attributes: [] }, 'invalid_field'],
    ['without a span', { spanId: '' }, 'invalid_run_id'],
    ['without a trace', { traceId: '' }, 'invalid_trace_id'],
  ])('%s is refused, and the others are stored', (_, changes, code) => {
    const decoded = decodeLogs(log(), log(changes))
    expect(codes(decoded)).toEqual([code])
    expect(decoded.count).toBe(1)
  })
})
