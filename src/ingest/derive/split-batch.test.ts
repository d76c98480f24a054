import { describe, expect, it } from 'vitest'
import { emptyFragment, RANK, readFragments, writeFragment } from '../../trace/rows/fragment.ts'
import { RowWriter } from '../../trace/rows/row-binary.ts'
import { insertParts, type Payloads, splitBatch } from './split-batch.ts'

const WORKSPACE = '11111111-1111-4111-8111-111111111111'
const idOf = (n: number): string => `01a1f83d-55e5-7000-8000-${String(n).padStart(12, '0')}`

/** A payload with a row of `bytes` of inputs for each of these TraceRuns. */
function rowsOf(ids: readonly number[], bytes = 10): Uint8Array {
  const writer = new RowWriter()
  for (const id of ids)
    writeFragment(writer, {
      ...emptyFragment(WORKSPACE, idOf(id), RANK.create, 0),
      inputs: Buffer.alloc(bytes, 0x78),
    })
  return writer.finish()
}

const idsIn = (payloads: Payloads): number[] =>
  payloads.flatMap((payload) => [...readFragments(payload)].map(({ run_id }) => Number(run_id.slice(-4))))

describe('splitBatch', () => {
  it('halves a batch, and keeps the fragments of each TraceRun together', () => {
    const split = splitBatch([rowsOf([1, 2]), rowsOf([3, 1, 4, 5])])
    expect('halves' in split && split.halves.map(idsIn)).toEqual([
      [1, 1, 2, 3],
      [4, 5],
    ])
  })

  it('returns the only TraceRun of a batch that cannot be halved', () => {
    const [{ key } = { key: '' }] = readFragments(rowsOf([1]))
    expect(splitBatch([rowsOf([1]), rowsOf([1])])).toEqual({ only: key })
  })
})

describe('insertParts', () => {
  it('does not split small batches', () => {
    const payloads = [rowsOf([1]), rowsOf([2])]
    expect(insertParts(payloads)).toEqual([payloads])
  })

  it('cuts between payloads, and large ones between rows', () => {
    const size = rowsOf([1], 1000).length
    const payloads = [
      rowsOf([1], 1000),
      rowsOf([2, 3, 4, 5, 6], 1000),
      rowsOf([7], 10_000),
      rowsOf([8], 1000),
    ]
    expect(insertParts(payloads, 2 * size).map(idsIn)).toEqual([[1], [2, 3], [4, 5], [6], [7], [8]])
  })
})
