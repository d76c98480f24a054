import { describe, expect, it } from 'vitest'
import { codeOf, decodeJson } from '../../../test/support/traces/decode-request.ts'
import { plainFragments } from '../../../test/support/traces/wire-body.ts'
import { NIL_UUID } from '../../base/ids.ts'
import { RANK } from '../rows/fragment.ts'

const A = '01a1f83d-55e5-7000-8000-0387a5c1ebd1'
const B = '5886f37f-82a1-4058-9185-c8bc773996bd'

describe('decodeRequest of JSON', () => {
  it('splits a batch without changing any digit', () => {
    const post = `{"id":"${A}","name":"a","n":12345678901234567890.10,"replicas":[],"child_runs":[{}],"inputs": {"v":1e400, "s":"\\ud800"} ,"session_name":"p","extra":{}}`
    const patch = `{ "id" : "${A.replaceAll('-', '')}" , "end_time":1795166133964, "outputs" : {"o":[ 1.10 ]} }`
    const decoded = decodeJson('batch', `\ufeff {"post":[${post}], "other":[[]], "patch":[${patch}]} `)
    expect(plainFragments(decoded)).toEqual([
      {
        run_id: A,
        rank: RANK.create,
        project_id: NIL_UUID,
        head: `{"id":"${A}","name":"a","n":12345678901234567890.10,"session_name":"p"}`,
        inputs: '{"v":1e400, "s":"\\ud800"}',
        extra: '{}',
      },
      {
        run_id: A,
        rank: RANK.update_with_end,
        project_id: NIL_UUID,
        head: `{"id" : "${A.replaceAll('-', '')}" , "end_time":1795166133964}`,
        outputs: '{"o":[ 1.10 ]}',
      },
    ])
  })

  it('rejects an invalid item of a batch alone', () => {
    const decoded = decodeJson('batch', {
      post: [{ id: A }, { name: 'b' }, 7, { id: 12 }, { id: 'x' }],
      patch: null,
    })
    expect(decoded.count).toBe(1)
    expect(decoded.rejected.map(({ run_id, code }) => [run_id, code])).toEqual([
      [null, 'missing_field'],
      [null, 'invalid_field'],
      ['12', 'invalid_run_id'],
      ['x', 'invalid_run_id'],
    ])
  })

  it('accepts one record, and applies changes to the TraceRun in the path', () => {
    expect(plainFragments(decodeJson('create', { id: A, name: 'a' }))).toMatchObject([{ rank: RANK.create }])
    const update = (body: unknown, path = A) => decodeJson('update', body, { path_run_id: path })
    expect(plainFragments(update({ outputs: {} }, A.replaceAll('-', '')))).toMatchObject([
      { run_id: A, outputs: '{}' },
    ])
    expect(update({ id: B })).toMatchObject({ count: 0, rejected: [{ run_id: A, code: 'invalid_run_id' }] })
    expect(update({}, 'nope')).toMatchObject({
      count: 0,
      rejected: [{ run_id: 'nope', code: 'invalid_run_id' }],
    })
    expect(decodeJson('create', [{ id: A }])).toMatchObject({ count: 0, rejected: [{ status: 422 }] })
    expect(decodeJson('create', { name: 'a' })).toMatchObject({
      rejected: [{ code: 'missing_field', field: 'id' }],
    })
  })

  it('gives a created run without an id the id that the request has for it', () => {
    const made = decodeJson('create', { name: 'a' }, { new_run_id: B })
    expect(plainFragments(made)).toMatchObject([{ run_id: B, rank: RANK.create }])
    for (const none of [{}, { id: null }, { name: null }])
      expect(decodeJson('create', none, { new_run_id: B })).toMatchObject({
        count: 0,
        rejected: [{ code: 'missing_field', field: 'id' }],
      })
    const inputs = decodeJson('create', { inputs: { a: 1 } }, { new_run_id: B })
    expect(plainFragments(inputs)).toMatchObject([{ run_id: B }])
    const own = decodeJson('create', { id: A, name: 'a' }, { new_run_id: B })
    expect(plainFragments(own)).toMatchObject([{ run_id: A }])
    expect(decodeJson('create', '{"name":', { new_run_id: B, truncated: true })).toMatchObject({
      count: 0,
      rejected: [{ run_id: null }],
    })
  })

  it('INGEST-15: leaves out an update that changes nothing, because it would make a trace', () => {
    const count = (body: unknown) => decodeJson('update', body, { path_run_id: A })
    expect(count({})).toMatchObject({ count: 0, rejected: [] })
    expect(count({ id: A, end_time: null })).toMatchObject({ count: 0, rejected: [] })
    expect(count({ end_time: 1_795_166_133_964 })).toMatchObject({ count: 1 })
    expect(count({ outputs: {} })).toMatchObject({ count: 1 })
    expect(decodeJson('batch', { patch: [{ id: A }, { id: B, tags: ['t'] }] })).toMatchObject({ count: 1 })
    expect(decodeJson('create', { id: A })).toMatchObject({ count: 1 })
  })

  it('INGEST-12: reads a missing id from the end of the dotted_order', () => {
    const root = { dotted_order: `20261120T090000000000Z${A}` }
    expect(plainFragments(decodeJson('create', { name: 'a', ...root }))).toMatchObject([{ run_id: A }])
    const order = `${root.dotted_order}.20261120T090000000000Z${B}`
    const child = { id: '', name: 'b', dotted_order: order, trace_id: A, parent_run_id: A }
    expect(plainFragments(decodeJson('batch', { post: [root, child], patch: [child] }))).toMatchObject([
      { run_id: A },
      { run_id: B, rank: RANK.create },
      { run_id: B, rank: RANK.update },
    ])
    expect(decodeJson('create', { dotted_order: 'x' })).toMatchObject({
      rejected: [{ code: 'missing_field', field: 'id' }],
    })
  })

  it('accepts 1,000 levels and more', () => {
    const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
    const decoded = decodeJson(
      'create',
      `{"id":"${A}","inputs":{"d":${deep(100_000)}},"tags":${deep(1_000)}}`,
    )
    expect(decoded).toMatchObject({ count: 1, rejected: [] })
    const tooDeep = decodeJson('create', `{"id":"${A}","tags":${deep(100_000)}}`)
    expect(tooDeep).toMatchObject({ count: 0, rejected: [{ code: 'invalid_json' }] })
  })

  it.each([
    '',
    '{',
    '[]x',
    'nothing',
    '{"post":[{"id":1}',
    '{"post":[}]}',
    '{"post" 1}',
    '{"post":[]} x',
    '{"a":}',
    '{"a":1,}',
  ])('refuses %s', (text) => {
    expect(codeOf(() => decodeJson('batch', text))).toMatch(/invalid_json|invalid_request/)
  })

  it('refuses a body that is neither a run nor a batch', () => {
    expect(codeOf(() => decodeJson('batch', '[]'))).toBe('invalid_request')
    expect(codeOf(() => decodeJson('batch', '{"post":{}}'))).toBe('invalid_request')
  })
})
