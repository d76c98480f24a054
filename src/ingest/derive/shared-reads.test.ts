import { expect, it } from 'vitest'
import { outlineRows } from '../../../test/support/traces/outline-rows.ts'
import { emptyFragment, RANK, readFragments, readOutlines, writeFragment } from '../../trace/rows/fragment.ts'
import { RowWriter } from '../../trace/rows/row-binary.ts'
import { askedByAny, childrenByPart, outlinesByPart } from './shared-reads.ts'

const [A, B] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']
const idOf = (n: number): string => `01a1f83d-55e5-7000-8000-${String(n).padStart(12, '0')}`
const asking = (workspace_id: string, ...runs: number[]) => ({ workspace_id, run_ids: runs.map(idOf) })

function outlinesOf(workspace_id: string, ...runs: number[]): Uint8Array {
  const rows = new RowWriter()
  for (const run of runs)
    writeFragment(rows, {
      ...emptyFragment(workspace_id, idOf(run), RANK.update, 1000),
      head: Buffer.from(`{"of":${run}}`),
      inputs: Buffer.alloc(300),
    })
  return outlineRows([...readFragments(rows.finish())])
}

const PARTS = [[asking(A, 1, 2), asking(B, 1)], [asking(A, 3, 2)], []]

it('asks for each TraceRun once', () => {
  expect(askedByAny(PARTS)).toEqual([asking(A, 1, 2, 3), asking(B, 1)])
})

it('gives each part the outlines for which it asked', () => {
  const byPart = outlinesByPart([outlinesOf(A, 2, 3, 1, 2), outlinesOf(B, 1)], PARTS)
  const read = byPart.map((rows) =>
    rows.flatMap((some) =>
      Array.from(readOutlines(some), ({ workspace_id, head, left_out }) => [
        workspace_id === A ? 'A' : 'B',
        Buffer.from(head).toString(),
        left_out.inputs,
      ]),
    ),
  )
  expect(read).toEqual([
    [
      ['A', '{"of":2}', 300],
      ['A', '{"of":1}', 300],
      ['A', '{"of":2}', 300],
      ['B', '{"of":1}', 300],
    ],
    [
      ['A', '{"of":2}', 300],
      ['A', '{"of":3}', 300],
      ['A', '{"of":2}', 300],
    ],
    [],
  ])
})

it('gives each part the children of the parents for which it asked', () => {
  const pair = (parent: number, child: number) => ({ parent_run_id: idOf(parent), run_id: idOf(child) })
  const found = [{ workspace_id: A, pairs: [pair(1, 10), pair(3, 30)] }]
  expect(childrenByPart(found, PARTS)).toEqual([
    [{ workspace_id: A, pairs: [pair(1, 10)] }],
    [{ workspace_id: A, pairs: [pair(3, 30)] }],
    [{ workspace_id: A, pairs: [] }],
  ])
})
