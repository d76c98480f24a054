import { describe, expect, it } from 'vitest'
import { builtInProcessors } from '../../processors/index.ts'
import { outlineRows, payloadRows } from '../../test/support/traces/outline-rows.ts'
import { requestHead } from '../../test/support/traces/wire-body.ts'
import { decodeRequest } from '../trace/decode/decode.ts'
import { deriveTraceRun } from '../trace/derive/derive.ts'
import { NIL_UUID } from '../base/ids.ts'
import { createDefaultPrices } from '../trace/price/default/default-prices.ts'
import { readFragments, SIZED_COLUMNS, type StoredFragment } from '../trace/rows/fragment.ts'
import { i128, nullable, rowFormat, string, ticks, u64, u8, uuid } from '../trace/rows/row-format.ts'
import { RowWriter } from '../trace/rows/row-binary.ts'
import { type RollUpColumns, TRACE_RUN_ROWS, type TraceRunRow, toRow } from '../trace/rows/trace-run-row.ts'
import { createEstimates } from '../trace/tokens/estimator.ts'
import { createTokenizer } from '../trace/tokens/tokenizer.ts'
import { createTraceAssembly, type ReadRows } from './trace-assembly.ts'

const context = { processors: builtInProcessors, startEstimate: createEstimates(createTokenizer()) }
const assembly = createTraceAssembly(context)
const defaults = createDefaultPrices()
const id = '01a1f83d-5201-7000-8000-00000000000a'

function fragments(kind: 'create' | 'update', record: object): StoredFragment[] {
  const head = requestHead({ kind, path_run_id: id })
  return [...readFragments(decodeRequest(head, Buffer.from(JSON.stringify({ id, ...record }))).rows)]
}

const created = (model: string) =>
  fragments('create', {
    name: 'call',
    run_type: 'llm',
    start_time: '2026-11-20T09:00:00Z',
    extra: { metadata: { ls_provider: 'openai', ls_model_name: model } },
  })
const ended = fragments('update', {
  end_time: '2026-11-20T09:00:01Z',
  outputs: { usage_metadata: { input_tokens: 1000, output_tokens: 100 } },
})

function rowBytes(row: TraceRunRow): Uint8Array {
  const out = new RowWriter()
  TRACE_RUN_ROWS.write(out, row)
  return out.finish()
}

/** Cost and issues in a read, with a row that was derived only from `known`, or without a row. */
function read(all: readonly StoredFragment[], known: readonly StoredFragment[], priced = true) {
  const row =
    known.length === 0 ? undefined : toRow(deriveTraceRun(known, { ...context, parentOf: () => undefined }))
  const found: ReadRows = {
    rows: row === undefined ? new Uint8Array(0) : rowBytes(row),
    roll_up: new Uint8Array(0),
    fragments: { outlines: outlineRows(all), payloads: [payloadRows(all, SIZED_COLUMNS)] },
    shown: 1,
    feedback: new Map(),
  }
  const bytes = assembly.traceRun(found, {}, priced ? () => defaults : undefined)
  const { total_cost, issues } = JSON.parse(Buffer.from(bytes!).toString('utf8')) as {
    total_cost: string | null
    issues: { code: string }[]
  }
  return { total_cost, issues: issues.map(({ code }) => code) }
}

describe('a TraceRun that is read before its row is derived from all fragments', () => {
  const call = created('gpt-4.1-mini')

  it('has its cost, or the reason for a missing cost', () => {
    const cost = { total_cost: '0.00056', issues: [] }
    expect(read([...call, ...ended], [])).toEqual(cost)
    expect(read([...call, ...ended], call)).toEqual(cost)
    const none = { total_cost: null, issues: ['no_price'] }
    expect(read([...created('own-model'), ...ended], [])).toEqual(none)
  })

  it('has no cost in other cases, because the row has the prices of its time', () => {
    expect(read([...call, ...ended], [...call, ...ended])).toEqual({ total_cost: null, issues: [] })
    expect(read([...call, ...ended], [], false)).toEqual({ total_cost: null, issues: [] })
  })
})

it('is undefined for a trace that was deleted after its rows were read', () => {
  const row = toRow(deriveTraceRun(created('gpt-5'), { ...context, parentOf: () => undefined }))
  const found: ReadRows = {
    rows: rowBytes(row),
    roll_up: new Uint8Array(0),
    fragments: { outlines: new Uint8Array(0), payloads: [] },
    shown: 1,
    feedback: new Map(),
  }
  expect(assembly.trace(found, { trace_id: row.trace_id, next: null })).toBeUndefined()
})

const [time, tokens, cost] = [nullable(ticks), nullable(u64), nullable(i128)]
/** Rows of ROLL_UP_COLUMNS. */
const ROLL_UP_ROWS = rowFormat<RollUpColumns>({
  trace_id: uuid,
  run_id: uuid,
  parent_run_id: uuid,
  run_type: string,
  model: string,
  status: string,
  start_time: ticks,
  end_time: time,
  first_token_time: time,
  thread_id: string,
  input_tokens: tokens,
  output_tokens: tokens,
  input_cost: cost,
  output_cost: cost,
  total_cost: cost,
  input_source: string,
  output_source: string,
  sent_costs: u8,
  call_id: u64,
  call_facts: u8,
})

it('D-19: a later page of a trace has the root and the duration of the whole trace', () => {
  const own = {
    run_type: 'chain',
    trace_id: id,
    parent_run_id: NIL_UUID,
    start_time: 1_000_000,
    end_time: 9_000_000,
  }
  const base = toRow(deriveTraceRun(created('gpt-5'), { ...context, parentOf: () => undefined }))
  const root: TraceRunRow = { ...base, ...own, run_id: id, name: 'root' }
  const late: TraceRunRow = {
    ...root,
    run_id: '01a1f83d-5201-7000-8000-00000000000b',
    parent_run_id: id,
    name: 'late',
    start_time: 5_000_000,
    end_time: 6_000_000,
  }
  const roll_up = new RowWriter()
  for (const row of [root, late]) ROLL_UP_ROWS.write(roll_up, row)
  const found: ReadRows = {
    rows: rowBytes(late),
    roll_up: roll_up.finish(),
    root: rowBytes(root),
    fragments: { outlines: new Uint8Array(0), payloads: [] },
    shown: 1,
    feedback: new Map(),
  }
  const page = assembly.trace(found, { trace_id: id, next: null })
  expect(JSON.parse(Buffer.from(page!).toString('utf8'))).toMatchObject({
    root: { id, name: 'root' },
    runs: [{ name: 'late' }],
    duration_ms: 8000,
  })
})

it('a list that selects payloads has the previews and counts of faults that it selects too', () => {
  const all = fragments('create', {
    name: 'call',
    run_type: 'llm',
    start_time: '2026-11-20T09:00:00Z',
    error: 'Timeout',
    inputs: { messages: [{ role: 'user', content: 'Why?' }] },
  })
  const row = toRow(deriveTraceRun(all, { ...context, parentOf: () => undefined }))
  const found: ReadRows = {
    rows: rowBytes(row),
    roll_up: new Uint8Array(0),
    fragments: { outlines: outlineRows(all), payloads: [payloadRows(all, SIZED_COLUMNS)] },
    shown: 1,
    feedback: new Map(),
  }
  const select = [
    'inputs',
    'inputs_preview',
    'outputs_preview',
    'error_runs',
    'unpriced_runs',
    'failed_names',
  ]
  const page = assembly.page(found, { next: null, prev: null }, { select })
  const { runs } = JSON.parse(Buffer.from(page).toString('utf8')) as { runs: object[] }
  expect(runs).toMatchObject([
    {
      inputs: { messages: [{ content: 'Why?' }] },
      inputs_preview: expect.stringContaining('Why?'),
      outputs_preview: '',
      error_runs: 1,
      unpriced_runs: 1,
      failed_names: [],
    },
  ])
})
