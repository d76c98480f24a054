import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { builtInProcessors } from '../../processors/index.ts'
import { dashed, NIL_UUID } from '../../src/base/ids.ts'
import type { JsonObject, JsonValue } from '../../src/schema/json.ts'
import { createRegistry } from '../../src/schema/registry.ts'
import { deriveTraceRun } from '../../src/trace/derive/derive.ts'
import { createEstimates } from '../../src/trace/tokens/estimator.ts'
import { emptyFragment, RANK, readFragments, writeFragment } from '../../src/trace/rows/fragment.ts'
import { spanUuid } from '../../src/trace/otel/span/ids.ts'
import type { SpanRecord } from '../../src/trace/otel/span/span.ts'
import { rollUp } from '../../src/trace/derive/roll-up.ts'
import { RowWriter } from '../../src/trace/rows/row-binary.ts'
import { createTokenizer } from '../../src/trace/tokens/tokenizer.ts'
import { totalsJson } from '../../src/trace/json/row-fields.ts'
import { aboutInTrace, fullPieces, joinPieces } from '../../src/trace/json/trace-run.ts'
import { type TraceRunRow, toRow } from '../../src/trace/rows/trace-run-row.ts'
import { caseFaults, type ExpectedFacts, type ReadTrace, type ReadTraceRun } from '../conformance/traces/corpus/facts.ts'

/** A span of a case; fields that it lacks get defaults. */
type CaseSpan = Partial<SpanRecord> & {
  start_time?: string
  end_time?: string
  logs?: { name?: string; time?: string; attributes?: JsonObject; body?: JsonValue }[]
}

/** Spans of one dialect, and the expected result. */
interface Case {
  note?: string
  spans: CaseSpan[]
  facts: ExpectedFacts[]
}

const ROOT = new URL('./spans/', import.meta.url)
const UPDATE = process.env['UPDATE_GOLDEN'] === '1'
const registry = createRegistry()
const context = {
  processors: builtInProcessors,
  startEstimate: createEstimates(createTokenizer()),
  parentOf: () => undefined,
}

function toFragments(span: CaseSpan, index: number): Uint8Array {
  const { start_time, end_time, logs = [], ...sent } = span
  const record: SpanRecord = {
    trace_id: '0af7651916cd43dd8448eb211c80319c',
    span_id: `00000000000000${String(index + 10)}`,
    name: 'span',
    kind: 3,
    scope: {},
    resource: {},
    attributes: {},
    events: [],
    status: { code: 0 },
    ...sent,
  }
  const { trace_id, span_id, parent_span_id } = record
  const isRoot = parent_span_id === undefined && index === 0
  const id = isRoot ? dashed(trace_id) : spanUuid(span_id)
  const head = {
    id,
    trace_id: dashed(trace_id),
    ...(isRoot ? {} : { parent_run_id: parent_span_id === undefined ? dashed(trace_id) : spanUuid(parent_span_id) }),
    name: record.name,
    start_time: start_time ?? '2026-01-15T10:00:00.000Z',
    end_time: end_time ?? '2026-01-15T10:00:01.500Z',
  }
  const extra: JsonObject = { otel_span: record as unknown as JsonObject }
  for (const [i, log] of logs.entries())
    extra[`otel_log:${i}`] = { name: '', time: '2026-01-15T10:00:01.000Z', attributes: {}, body: null, ...log }
  const writer = new RowWriter()
  writeFragment(writer, {
    ...emptyFragment(NIL_UUID, id, RANK.update_with_end, Date.UTC(2027, 0, 1)),
    head: Buffer.from(JSON.stringify(head)),
    extra: Buffer.from(JSON.stringify(extra)),
  })
  return writer.finish()
}

/** The case's trace in the form that clients read, computed without a store. */
function readTrace(spans: readonly CaseSpan[]): ReadTrace {
  const derived = spans.map((span, i) => deriveTraceRun([...readFragments(toFragments(span, i))], context))
  const rows: TraceRunRow[] = derived.map(toRow)
  const roll = rollUp(rows)
  const runs = derived.map((traceRun, i): ReadTraceRun => {
    const row = rows[i]!
    const json = Buffer.from(joinPieces(fullPieces(traceRun, row, aboutInTrace(row, roll), {}))).toString('utf8')
    return JSON.parse(json) as ReadTraceRun
  })
  return { trace_id: runs[0]!.trace_id, root: null, runs, totals: totalsJson(roll.trace) }
}

/** What the mapping made of the spans, without ids, times and the spans themselves. */
function decided(traceRun: ReadTraceRun): Record<string, unknown> {
  const { name, run_type, status, error, tags, thread_id, inputs, outputs, llm, total_cost, same_call_as } = traceRun
  const { otel_span: _span, ...extra } = traceRun.extra
  const withoutLogs = Object.entries(extra).filter(([key]) => !key.startsWith('otel_log:'))
  return {
    name,
    run_type,
    status,
    error,
    tags,
    thread_id,
    total_cost,
    ...(same_call_as !== null && { same_call_as }),
    extra: Object.fromEntries(withoutLogs),
    inputs,
    outputs,
    ...(llm && { llm: { ...llm, issues: llm.issues.map(({ code, path }) => `${code} ${path}`) } }),
  }
}

describe('spans of every dialect', () => {
  const names = readdirSync(ROOT).filter((file) => file.endsWith('.input.json'))

  it.each(names.map((file) => file.slice(0, -'.input.json'.length)))('%s', (name) => {
    const { spans, facts } = JSON.parse(readFileSync(new URL(`${name}.input.json`, ROOT), 'utf8')) as Case
    const trace = readTrace(spans)
    expect(caseFaults(facts, [trace])).toEqual([])
    for (const { llm } of trace.runs) {
      for (const message of [...(llm?.messages?.input ?? []), ...(llm?.messages?.output ?? [])])
        expect(registry.check('message', message)).toMatchObject({ ok: true })
    }
    const got = trace.runs.map(decided)
    const golden = new URL(`${name}.expected.json`, ROOT)
    if (UPDATE) writeFileSync(golden, `${JSON.stringify(got, null, 2)}\n`)
    expect(got).toEqual(JSON.parse(readFileSync(golden, 'utf8')))
  })
})
