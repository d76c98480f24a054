import { gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import {
  attributes,
  END_NS,
  type JsonSpan,
  jsonExport,
  jsonLogExport,
  jsonSpan,
  spanId,
  START_NS,
  TRACE,
} from '../../../test/support/traces/otlp-body.ts'
import { protoType } from '../../../test/support/traces/otlp-proto.ts'
import { dashed, NIL_UUID } from '../../base/ids.ts'
import type { RequestHead } from './decoded.ts'
import { RANK, readFragments } from '../rows/fragment.ts'
import type { LlmContext } from '../derive/llm.ts'
import { spanUuid } from '../otel/span/ids.ts'
import { readBody, reportBody, validateBody } from './validate-body.ts'

const A = '01a1f83d-5201-7000-8000-00000000000a'
const B = '01a1f83d-5201-7000-8000-00000000000b'

const HEAD: RequestHead = {
  kind: 'batch',
  content_type: '',
  content_encoding: '',
  workspace_id: NIL_UUID,
  user_id: NIL_UUID,
  api_key_id: NIL_UUID,
  received_at: Date.UTC(2026, 10, 20),
  limits: { max_body_bytes: 1_000_000, max_parts: 100, max_part_bytes: 100_000 },
}
const CONTEXT: LlmContext = {
  processors: [],
  startEstimate: () => {
    const nothing = () => ({ tokens: 0, encoding: 'none', sampled: false })
    return { input: nothing, output: nothing }
  },
}

const run = (id: string, more: object = {}): object => ({
  id,
  name: `run ${id.at(-1)}`,
  run_type: 'chain',
  ...more,
})
const text = (...values: unknown[]): string => values.map((value) => JSON.stringify(value)).join('\n')

/**
 * Reads a body. Returns a letter for each fragment (`a`, `b`… by the last digit of the id, upper case for creates),
 * and the codes of the rejected items.
 */
function read(
  body: string | Uint8Array,
  head: Partial<RequestHead> = {},
): { read: string; rejected: string[] } {
  const { rows, rejected } = readBody({ ...HEAD, ...head }, Buffer.from(body))
  const letters = [...readFragments(rows)].map(({ run_id, rank }) =>
    rank === RANK.create ? run_id.at(-1)!.toUpperCase() : run_id.at(-1)!,
  )
  return { read: letters.join(''), rejected: rejected.map(({ code }) => code) }
}

const PART = (id: string): string =>
  [
    '--b',
    `Content-Disposition: form-data; name="post.${id}"`,
    'Content-Type: application/json',
    '',
    `${JSON.stringify(run(id))}\r\n`,
  ].join('\r\n')
/** A span that is not the root, so that its TraceRun has another id than the trace. */
const span = (n: number, changes: JsonSpan = {}): JsonSpan =>
  jsonSpan(n, { parentSpanId: spanId(9), ...changes })
/** An export of spans in protobuf. */
function protoExport(...numbers: number[]): Buffer {
  const spans = numbers.map((n) => ({
    traceId: Buffer.from(TRACE, 'hex'),
    spanId: Buffer.from(spanId(n), 'hex'),
    parentSpanId: Buffer.from(spanId(9), 'hex'),
    name: `span ${n}`,
    startTimeUnixNano: START_NS,
    endTimeUnixNano: END_NS,
  }))
  return protoType('ExportTraceServiceRequest').encode({ resourceSpans: [{ scopeSpans: [{ spans }] }] })
}
const EVENT = { 'event.name': 'gen_ai.choice', 'gen_ai.provider.name': 'openai' }
const jsonLog = (n: number): object => ({
  traceId: TRACE,
  spanId: spanId(n),
  timeUnixNano: START_NS,
  attributes: attributes(EVENT),
})
function protoLogExport(n: number): Buffer {
  const record = {
    traceId: Buffer.from(TRACE, 'hex'),
    spanId: Buffer.from(spanId(n), 'hex'),
    timeUnixNano: START_NS,
    eventName: 'gen_ai.choice',
  }
  return protoType('ExportLogsServiceRequest').encode({
    resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }],
  })
}
const MULTIPART = `${PART(A)}--b--\r\n`

describe('a report on several spans without a parent', () => {
  it('separates them as ingest does', () => {
    const body = text({ resourceSpans: [{ scopeSpans: [{ spans: [jsonSpan(1), jsonSpan(0)] }] }] })
    const { runs } = reportBody(HEAD, Buffer.from(body), CONTEXT)
    expect(runs.map(({ run_id, name, issues }) => [run_id, name, issues.map(({ code }) => code)])).toEqual([
      [dashed(TRACE), 'span 0', []],
      [spanUuid(spanId(1)), 'span 1', ['several_roots']],
    ])
  })
})

describe('readBody', () => {
  it.each([
    ['one run', text(run(A)), 'A'],
    ['one run over many lines', JSON.stringify(run(A, { inputs: { a: [1, 2] } }), null, 2), 'A'],
    ['a list of runs', text([run(A), run(B)]), 'AB'],
    ['a batch', text({ post: [run(A)], patch: [run(B)] }), 'Ab'],
    ['a batch of updates', text({ patch: [run(B)] }), 'b'],
    ['a batch of nothing', '{}', ''],
    ['NDJSON of runs', text(run(A), run(B)), 'AB'],
    ['NDJSON of runs and batches', `${text(run(A), { post: [], patch: [run(B)] })}\r\n\n`, 'Ab'],
    ['JSON after a byte order mark', `\ufeff${text(run(A))}`, 'A'],
    ['a captured multipart body', MULTIPART, 'A'],
    ['bare NaN, as Python writes it', `{"id":"${A}","extra":{"x":NaN}}`, 'A'],
  ])('reads %s', (_, body, expected) => {
    expect(read(body)).toEqual({ read: expected, rejected: [] })
  })

  it.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ] as const)('reads all of them compressed with %s', (content_encoding, compress) => {
    for (const body of [text(run(A)), text([run(A)]), text(run(A), run(A)), MULTIPART]) {
      expect(read(compress(body), { content_encoding })).toEqual({ read: 'A', rejected: [] })
    }
  })

  it.each([
    ['traces in JSON', jsonExport([span(1), span(2)]), '', '12'],
    ['traces in protobuf', protoExport(1, 2), '', '12'],
    ['traces in protobuf by their type', protoExport(1), 'application/x-protobuf', '1'],
    ['an empty export', Buffer.alloc(0), 'application/x-protobuf', ''],
    ['logs in JSON', jsonLogExport([jsonLog(1)]), '', '1'],
    ['logs in protobuf', protoLogExport(1), '', '1'],
    [
      'a file of the OpenTelemetry collector',
      Buffer.from(`${jsonExport([span(1)]).toString()}\n${jsonLogExport([jsonLog(2)]).toString()}\n`),
      '',
      '12',
    ],
    [
      'exports and runs by turns',
      Buffer.from(`${text(run(A))}\n${jsonExport([span(1)]).toString()}`),
      '',
      'A1',
    ],
    ['a run after a line feed', Buffer.from(`\n${text(run(A))}`), '', 'A'],
  ])('reads %s', (_, body, content_type, expected) => {
    expect(read(body, { content_type })).toEqual({ read: expected, rejected: [] })
    const gzip = { content_type, content_encoding: 'gzip' }
    expect(read(gzipSync(body), gzip)).toEqual({ read: expected, rejected: [] })
  })

  it('throws invalid_otlp for text that is not protobuf, and counts refused spans', () => {
    const head = { ...HEAD, content_type: 'application/x-protobuf' }
    expect(() => readBody(head, Buffer.from('hello'))).toThrow(
      expect.objectContaining({ code: 'invalid_otlp' }),
    )
    expect(() => readBody(HEAD, Buffer.from('\nhello'))).toThrow(
      expect.objectContaining({ code: 'invalid_json' }),
    )
    expect(read(jsonExport([span(1), span(2, { spanId: 'x' })]))).toEqual({
      read: '1',
      rejected: ['invalid_run_id'],
    })
  })

  it('reads the boundary from the content type', () => {
    expect(read(`preamble\r\n${MULTIPART}`, { content_type: 'multipart/form-data; boundary=b' }).read).toBe(
      'A',
    )
  })

  it('names lines that are not JSON and keeps the others', () => {
    const { rejected } = readBody(HEAD, Buffer.from(`${text(run(A))}\n{"id":\n${text(run(B))}`))
    expect(rejected).toMatchObject([{ run_id: null, code: 'invalid_json', reason: 'Line 2 is not JSON.' }])
    expect(read(`{"id":\n${text(run(B))}`)).toEqual({ read: 'B', rejected: ['invalid_json'] })
  })

  it('keeps the complete records of bodies that stop early', () => {
    const batch = text({ post: [run(A), run(B)] })
    expect(read(batch.slice(0, -10), { truncated: true })).toEqual({
      read: 'A',
      rejected: ['incomplete_run'],
    })
    expect(read(PART(A) + PART(B).slice(0, -10)).read).toBe('A')
  })

  it('rejects a run without an id and values that are not runs', () => {
    expect(read(text([run(A), { name: 'x' }, 5]))).toEqual({
      read: 'A',
      rejected: ['missing_field', 'invalid_field'],
    })
  })

  it('rejects a run over many lines that is not JSON', () => {
    expect(read(`{\n  "id": "${A}",\n  "name": oops,\n  "tags": []\n}`)).toEqual({
      read: '',
      rejected: ['invalid_json'],
    })
  })

  it.each([
    ['an empty body', '', 'invalid_json'],
    ['text', 'hello', 'invalid_json'],
    ['text over many lines', 'hello\nworld', 'invalid_json'],
    ['JSON that is no object', '"hello"', 'invalid_json'],
    ['lines of which none is JSON', '{"id":\n{"id":', 'invalid_json'],
    ['a batch whose post is no list', '{"post": 5}', 'invalid_request'],
  ])('throws for %s', (_, body, code) => {
    expect(() => readBody(HEAD, Buffer.from(body))).toThrow(expect.objectContaining({ code }))
  })

  it('throws for damaged compression, too many parts and too large a body', () => {
    const small = { ...HEAD, limits: { ...HEAD.limits, max_body_bytes: 10, max_parts: 1 } }
    const gzip = { ...HEAD, content_encoding: 'gzip' }
    expect(() => readBody(gzip, Buffer.from('no gzip'))).toThrow(
      expect.objectContaining({ code: 'invalid_encoding' }),
    )
    expect(() => readBody(small, Buffer.from(text(run(A))))).toThrow(
      expect.objectContaining({ code: 'body_too_large' }),
    )
    const parts = { ...small, limits: { ...small.limits, max_body_bytes: 1000 } }
    expect(() => readBody(parts, Buffer.from(text([run(A), run(B)])))).toThrow(
      expect.objectContaining({ code: 'too_many_parts' }),
    )
  })
})

describe('reportBody', () => {
  it.each([
    [{ id: 'x' }, 'x', ['id']],
    [{ id: A }, A, []],
  ])('names every fault of a record, and counts the record once: %j', (ids, run_id, fields) => {
    const record = { ...ids, trace_id: 't', parent_run_id: 'p', start_time: 'now', end_time: 'then' }
    const report = reportBody(HEAD, Buffer.from(text({ ...record, dotted_order: 'd' })), CONTEXT)
    const all = [...fields, 'trace_id', 'parent_run_id', 'start_time', 'end_time', 'dotted_order']
    expect(report.rejected.map(({ field }) => field)).toEqual(all)
    expect(report.rejected.every((fault) => fault.run_id === run_id)).toBe(true)
    expect(report.summary).toMatchObject({ runs: 0, rejected: 1 })
  })

  it('merges the creates and updates of a run, and counts what was rejected', () => {
    const body = text({ post: [run(A), { id: 'x' }], patch: [{ id: A, end_time: 1, error: 'boom' }] })
    const report = reportBody(HEAD, Buffer.from(body), CONTEXT)
    expect(report).toMatchObject({ valid: false, summary: { runs: 1, valid: 1, rejected: 1 } })
    expect(report.rejected).toMatchObject([{ run_id: 'x', code: 'invalid_run_id', field: 'id' }])
  })

  it('equals the JSON that validateBody returns', () => {
    const body = Buffer.from(text(run(A)))
    const answer: unknown = JSON.parse(Buffer.from(validateBody(HEAD, body, CONTEXT)).toString())
    expect(answer).toEqual(reportBody(HEAD, body, CONTEXT))
    // A buffer of Node's pool cannot be transferred to another thread.
    const runs = Buffer.from(
      text(Array.from({ length: 20 }, (_, n) => run(A.replace(/..$/, String(n + 10))))),
    )
    const report = validateBody(HEAD, runs, CONTEXT)
    expect(report.length).toBeGreaterThan(4096)
    expect(report.buffer.byteLength).toBe(report.length)
  })
})
