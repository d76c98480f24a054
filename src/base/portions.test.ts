import { describe, expect, it } from 'vitest'
import { fitting, portionsOf } from './portions.ts'

const MB = 1 << 20
const keys = (...sizes: number[]) => sizes.map((bytes, id) => ({ id, bytes }))

describe('fitting', () => {
  it('ends a page before the size limit, after at least one record', () => {
    expect(fitting(keys(4, 4, 4), 8)).toHaveLength(2)
    expect(fitting(keys(4, 4, 4), 12)).toHaveLength(3)
    expect(fitting(keys(40, 1), 8)).toHaveLength(1)
    expect(fitting([], 8)).toEqual([])
  })
})

describe('portionsOf', () => {
  it('reads at most 1 MB and 128 records per statement, or one larger record', async () => {
    const sizes = [9 * MB, MB / 2, MB / 2, 1, ...Array<number>(300).fill(10)]
    const portions: number[] = []
    for await (const portion of portionsOf(keys(...sizes))) portions.push(portion.length)
    expect(portions).toEqual([1, 2, 128, 128, 45])
  })
})
