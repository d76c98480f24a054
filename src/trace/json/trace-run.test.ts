import { describe, expect, it } from 'vitest'
import { idOf, traceRunRow } from '../../../test/support/stores/clickhouse/trace-store.ts'
import { ownCounts, type TopCounts } from './row-fields.ts'
import { eventList, joinPieces, leanPieces, listNeeds } from './trace-run.ts'
import type { TraceRunRow } from '../rows/trace-run-row.ts'

const START = Date.UTC(2026, 10, 20) * 1000

function leanOf(fields: Partial<TraceRunRow>, counts?: TopCounts) {
  const row = traceRunRow(1, { run_id: idOf(1), run_type: 'llm', start_time: START, ...fields })
  const json = Buffer.from(joinPieces(leanPieces(row, { counts: counts ?? ownCounts(row) }, {}))).toString(
    'utf8',
  )
  return JSON.parse(json) as {
    llm?: { tokens_per_second: number | null }
    prompt_cost_details: object | null
    completion_cost_details: object | null
  }
}

describe('LLM-11 tokens per second', () => {
  const ended = { output_tokens: 100, end_time: START + 4_000_000 }

  it.each<[string, Partial<TraceRunRow>, number | null]>([
    ['from the start', ended, 25],
    ['from the first token', { ...ended, first_token_time: START + 1_500_000 }, 40],
    ['not rounded', { ...ended, end_time: START + 3_000_000 }, 100 / 3],
    ['of an estimate', { ...ended, output_source: 'estimate' }, 25],
    ['of a run that failed on its way', { ...ended, status: 'error' }, 25],
    ['not before the end', { ...ended, end_time: null }, null],
    ['not without a count', { ...ended, output_tokens: null }, null],
    ['not of no tokens', { ...ended, output_tokens: 0 }, null],
    ['not in no time', { ...ended, first_token_time: START + 4_000_000 }, null],
    ['not with a clock that went back', { ...ended, end_time: START - 1 }, null],
    ['not of an embedding', { ...ended, run_type: 'embedding' }, null],
  ])('%s', (_name, fields, expected) => {
    expect(leanOf(fields).llm!.tokens_per_second).toBe(expected)
  })
})

describe('parts of a cost', () => {
  const details = { input_cost_details: { cache_read: 3n * 10n ** 12n, base: 10n ** 12n } }

  it('are decimals that add up to it', () => {
    expect(leanOf({ input_cost: 4n * 10n ** 12n, output_cost: 0n, ...details })).toMatchObject({
      prompt_cost_details: { cache_read: '0.000003', base: '0.000001' },
      completion_cost_details: {},
    })
  })

  it('are those that the client sent, although they are not all of it', () => {
    expect(leanOf({ input_cost: 5n * 10n ** 12n, ...details })).toMatchObject({
      prompt_cost_details: { cache_read: '0.000003', base: '0.000001' },
    })
  })

  it('are null if they are more than it, of a cost without parts, and without a cost', () => {
    expect(leanOf({ input_cost: 3n * 10n ** 12n, output_cost: 1n, ...details })).toMatchObject({
      prompt_cost_details: null,
      completion_cost_details: null,
    })
    expect(leanOf(details).prompt_cost_details).toBeNull()
  })

  it('are null of a sum over other runs', () => {
    const counts = { ...ownCounts(traceRunRow(1, {})), prompt_cost: 5n }
    expect(leanOf({ run_type: 'chain' }, counts)).toMatchObject({ prompt_cost_details: null })
    const more = { ...counts, prompt_cost: 9n * 10n ** 12n }
    expect(leanOf({ run_type: 'chain', input_cost: 4n * 10n ** 12n, ...details }, more)).toMatchObject({
      prompt_cost_details: null,
    })
  })
})

describe('events of a TraceRun as read', () => {
  const bytes = (text: string): Uint8Array => Buffer.from(text)

  it('are the sent bytes if these are a list', () => {
    const sent = bytes(' \n[{"name": "new_token", "n": 9007199254740993}]')
    expect(eventList(sent)).toBe(sent)
  })

  it.each([
    [undefined, []],
    [null, []],
    [bytes('null'), []],
    [bytes('"[text"'), ['[text']],
    [bytes('{"name": "new_token"}'), [{ name: 'new_token' }]],
    [5, [5]],
    [[1], [1]],
  ])('are a list for any sent value (%#)', (sent, expected) => {
    expect(eventList(sent)).toEqual(expected)
  })
})

describe('a list with select', () => {
  it('reads only the columns of the selected fields', () => {
    expect(listNeeds(['id', 'app_path'])).toEqual({
      columns: [
        'project_id',
        'sort_time',
        'run_id',
        'trace_id',
        'parent_run_id',
        'run_type',
        'name',
        'start_time',
      ],
      payloads: false,
      traces: false,
      feedback: false,
      glimpses: false,
    })
    expect(listNeeds(['total_tokens'])).toMatchObject({
      columns: expect.arrayContaining(['input_tokens', 'output_tokens', 'call_id']),
      traces: true,
    })
  })

  it('reads all columns without select, and for payloads', () => {
    const { columns, ...others } = listNeeds(undefined)
    expect(others).toEqual({ payloads: false, traces: true, feedback: true, glimpses: true })
    expect(listNeeds(['inputs'])).toMatchObject({ columns, payloads: true, traces: false })
  })

  it('shows each selected field as a list of all fields does', () => {
    const row = traceRunRow(1, { run_id: idOf(1), run_type: 'llm', start_time: START, output_tokens: 3 })
    const textOf = (of: TraceRunRow, select?: string[]): Record<string, unknown> =>
      JSON.parse(Buffer.from(joinPieces(leanPieces(of, { counts: ownCounts(of) }, { select }))).toString())
    const all = textOf(row)
    for (const [name, value] of Object.entries(all)) {
      const { columns } = listNeeds([name])
      const read = Object.fromEntries(
        columns.map((column) => [column, row[column]]),
      ) as unknown as TraceRunRow
      expect([name, textOf(read, [name])[name]]).toEqual([name, value])
    }
  })
})
