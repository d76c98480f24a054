import { describe, expect, it } from 'vitest'
import { decodeJson } from '../../../test/support/traces/decode-request.ts'
import { readFragments } from '../rows/fragment.ts'
import { mergeFragments } from './merge.ts'

const ID = '01a1f83d-5201-7000-8000-00000000000a'

/** Merges a create and an update, in both orders of arrival. */
function mergeBoth(post: object, patch: object) {
  const rows = [{ post: [{ id: ID, ...post }] }, { patch: [{ id: ID, ...patch }] }].map(
    (body) => decodeJson('batch', body).rows,
  )
  const [one, other] = [rows, rows.toReversed()].map((each) =>
    mergeFragments(each.flatMap((part) => [...readFragments(part)])),
  )
  expect(one).toEqual({ ...other, keys: one!.keys })
  return one!
}

describe('mergeFragments', () => {
  it('D-11: no null and no empty value of an update overrides a value', () => {
    const metadata = { ls_provider: 'openai', ls_model_name: 'gpt-4.1', kept: 1 }
    const extra = { metadata, runtime: { sdk: 'x' }, invocation_params: { model: 'm' } }
    for (const none of [null, '', {}, []]) {
      const { head, extra: merged } = mergeBoth(
        { name: 'n', run_type: 'llm', tags: ['t'], extra },
        {
          name: none,
          run_type: none,
          tags: none,
          extra: { metadata: { ls_model_name: none, more: 2 }, runtime: none, invocation_params: none },
        },
      )
      expect(head).toMatchObject({ name: 'n', run_type: 'llm', tags: ['t'] })
      expect(merged).toEqual({ ...extra, metadata: { ...metadata, more: 2 } })
      expect(mergeBoth({ extra }, { extra: { metadata: none } }).extra).toEqual(extra)
    }
  })

  it('D-11: metadata that is not an object overrides none', () => {
    const extra = { metadata: { a: 1 } }
    expect(mergeBoth({ extra }, { extra: { metadata: 'x', batch_size: 2 } }).extra).toEqual({
      ...extra,
      batch_size: 2,
    })
  })

  it('reads extra that the update sends again unchanged once', () => {
    const extra = { metadata: { a: 1, b: {} }, runtime: { sdk: 'x' } }
    expect(mergeBoth({ name: 'n', extra }, { end_time: 'z', extra }).extra).toEqual(extra)
    const { issues } = mergeBoth({ name: 'n', extra: [1] }, { end_time: 'z', extra: [1] })
    expect(issues.map(({ code }) => code)).toEqual(['invalid_extra'])
  })

  it('D-11: two updates in one request add up as in two', () => {
    const updates = [
      { id: ID, extra: { metadata: { a: 1, b: 1 }, runtime: { sdk: 'x' } }, tags: ['t'] },
      { id: ID, extra: { metadata: { b: 2, a: null }, batch_size: 3 }, tags: [] },
    ]
    const { rows } = decodeJson('batch', { patch: updates })
    const { extra, head } = mergeFragments([...readFragments(rows)])
    expect(extra).toEqual({ metadata: { a: 1, b: 2 }, runtime: { sdk: 'x' }, batch_size: 3 })
    expect(head['tags']).toEqual(['t'])
    for (const wrong of [[1], 'x', { metadata: [1] }]) {
      const body = { patch: [updates[0], { id: ID, extra: wrong }] }
      const merged = mergeFragments([...readFragments(decodeJson('batch', body).rows)])
      expect(merged.extra).toEqual(updates[0]!.extra)
    }
  })
})
