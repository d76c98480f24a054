import { describe, expect, it } from 'vitest'
import { judgedRun, readQueryAnswer } from './answered-runs.ts'

const ID = '01a1f83d-5201-7000-8000-00000000000a'
const ROOT = '01a1f83d-5201-7000-8000-000000000001'
const CALL = { id: ID, name: 'call', run_type: 'llm', inputs: { a: 1 }, outputs: null, extra: {} }

describe('readQueryAnswer', () => {
  it('INGEST-11: takes the runs of API v1 as they were sent, without what the server added', () => {
    const runs = [{ ...CALL, total_tokens: 5, app_path: '/x', dotted_order: 'd', trace_id: ROOT }]
    expect(readQueryAnswer({ runs, cursors: { next: null } })).toEqual({
      sent: [{ ...CALL, dotted_order: 'd', trace_id: ROOT }],
      judged: [],
    })
  })

  it('INGEST-11: takes the runs of API v2 under the names of v1', () => {
    const { extra: _none, ...call } = CALL
    const item = {
      ...call,
      run_type: 'LLM',
      metadata: { ls_provider: 'openai' },
      manifest: { lc: 1 },
      dotted_order: 'd',
      parent_run_ids: [ROOT],
    }
    expect(readQueryAnswer({ items: [item], next_cursor: null })?.sent).toEqual([
      {
        ...call,
        extra: { metadata: { ls_provider: 'openai' } },
        serialized: { lc: 1 },
        dotted_order: 'd',
        parent_run_id: ROOT,
      },
    ])
  })

  it('leaves out the place of a run whose dotted_order was not selected', () => {
    const runs = [{ ...CALL, trace_id: ROOT, parent_run_id: ROOT }]
    expect(readQueryAnswer({ runs, cursors: {} })?.sent).toEqual([CALL])
  })

  it('refuses llm runs without the fields that the checks need, and names them', () => {
    const runs = [{ id: ID, name: 'call', run_type: 'llm' }]
    expect(() => readQueryAnswer({ runs })).toThrow(/"select": \["inputs", "outputs", "extra"/)
    const items = [{ id: ID, run_type: 'LLM', inputs: {} }]
    expect(() => readQueryAnswer({ items, next_cursor: null })).toThrow(/"selects": \["ID"/)
    expect(readQueryAnswer({ runs: [{ id: ID, run_type: 'chain' }] })?.sent).toHaveLength(1)
  })

  it.each([undefined, null, [], { post: [] }, { runs: 5 }, { items: [] }, CALL])(
    'is no answer: %j',
    (value) => {
      expect(readQueryAnswer(value)).toBeUndefined()
    },
  )
})

describe('judgedRun', () => {
  const checks = { run_type: { ok: true }, format: { ok: true }, model: { ok: true }, usage: { ok: false } }

  it('has the verdicts of the server, and says where the reason is if the answer has none', () => {
    const run = judgedRun({ ...CALL, llm: { checks, model: 'm', issues: [{ code: 'unknown_role' }] } })
    expect(run).toMatchObject({ run_id: ID, valid: false, model: 'm', provider: null, issues: [] })
    expect(run?.checks.usage?.reason).toContain('"llm" in "select"')
  })

  it('LLM-10: gives an embedding only the verdicts that apply', () => {
    const run = judgedRun({ ...CALL, run_type: 'embedding', llm: { checks } })
    expect(run).toMatchObject({ valid: true, checks: { run_type: null, format: null, usage: { ok: false } } })
  })

  it.each([{}, { checks: 5 }, { checks: { usage: { ok: 'yes' } } }])('has none from %j', (llm) => {
    expect(judgedRun({ ...CALL, llm })).toBeUndefined()
  })
})
