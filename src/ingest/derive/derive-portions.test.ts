import { describe, expect, it } from 'vitest'
import { emptyFragment, RANK, type StoredFragment } from '../../trace/rows/fragment.ts'
import type { PayloadWant } from '../../trace/derive/payload-plan.ts'
import { byFragment, takePortion } from './derive-portions.ts'

const WORKSPACE = '11111111-1111-4111-8111-111111111111'
const ID = '01a1f83d-55e5-7000-8000-0387a5c1ebd1'

function fragment(left_out: StoredFragment['left_out'], hash = 'h'.repeat(16)): StoredFragment {
  const key = Buffer.from(`${WORKSPACE}${ID}`.replaceAll('-', ''), 'hex').toString('latin1')
  return { ...emptyFragment(WORKSPACE, ID, RANK.create, 0), key, hash, row: new Uint8Array(0), left_out }
}

const want = (of: StoredFragment, column: PayloadWant['column']): PayloadWant => ({
  fragment: of,
  column,
  bytes: of.left_out[column]!,
})

describe('takePortion', () => {
  it('takes the tasks from the front that fit, and at least one', () => {
    const large = fragment({ inputs: 500, outputs: 30, extra: 30, error: 50 })
    const pending = (['inputs', 'outputs', 'extra', 'error'] as const).map((column) => want(large, column))
    const taken: number[][] = []
    while (pending.length > 0) taken.push(takePortion(pending, 100).map(({ bytes }) => bytes))
    expect(taken).toEqual([[500], [30, 30], [50]])
  })
})

describe('byFragment', () => {
  it('returns the other data of the fragment, fetched already or not', () => {
    const large = fragment({ outputs: 30, extra: 20 })
    large.inputs = new Uint8Array(400)
    const [group] = byFragment([want(large, 'outputs'), want(large, 'extra')])
    expect(group!.wants).toMatchObject([
      { hash: '68'.repeat(16), columns: ['outputs', 'extra'], bytes: 50, rest: 400 },
    ])
  })

  it('keeps fragments apart', () => {
    const [group, ...others] = byFragment([
      want(fragment({ inputs: 1 }), 'inputs'),
      want(fragment({ inputs: 2 }, 'i'.repeat(16)), 'inputs'),
    ])
    expect(others).toEqual([])
    expect(group!.wants.map(({ bytes, rest }) => [bytes, rest])).toEqual([
      [1, 0],
      [2, 0],
    ])
  })
})
