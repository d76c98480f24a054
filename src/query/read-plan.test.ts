import { expect, it } from 'vitest'
import { emptyFragment, RANK, type SizedColumn, SIZED_COLUMNS } from '../trace/rows/fragment.ts'
import { RowWriter } from '../trace/rows/row-binary.ts'
import type { PayloadQuery } from '../ingest/store/trace-store.ts'
import { fetchRead, planRead } from './read-plan.ts'

const WORKSPACE = '11111111-1111-4111-8111-111111111111'
const MB = 1024 * 1024
const idOf = (n: number): string => `01a1f83d-55e5-7000-8000-${String(n).padStart(12, '0')}`

/** A store whose TraceRun `n` has one fragment with inputs and outputs of these many MB. */
function storeOf(sizes: readonly [inputs: number, outputs: number][], isComplete = true) {
  const asked: PayloadQuery[] = []
  const keyOf = (out: RowWriter, n: number): void => {
    out.uuid(WORKSPACE)
    out.uuid(idOf(n))
  }
  const outlines = new RowWriter()
  for (const [n, [inputs, outputs]] of sizes.entries()) {
    const empty = emptyFragment(WORKSPACE, idOf(n), RANK.create, 0)
    keyOf(outlines, n)
    outlines.u8(RANK.create)
    outlines.raw(Buffer.alloc(16, n))
    outlines.i64(0n)
    for (const column of ['project_id', 'user_id', 'api_key_id'] as const) outlines.uuid(empty[column])
    outlines.bytes(empty.head)
    outlines.varint(SIZED_COLUMNS.length)
    for (const column of SIZED_COLUMNS)
      outlines.u32((column === 'inputs' ? inputs : column === 'outputs' ? outputs : 0) * MB)
  }
  return {
    asked,
    outlines: () => Promise.resolve(outlines.finish()),
    smallPayloads: () => Promise.resolve(new Uint8Array(0)),
    payloads(_: string, query: PayloadQuery) {
      asked.push(query)
      const out = new RowWriter()
      for (const hash of isComplete ? query.hashes : []) {
        keyOf(out, Number.parseInt(hash.slice(0, 2), 16))
        out.raw(Buffer.from(hash, 'hex'))
        for (const _column of SIZED_COLUMNS) out.bytes(new Uint8Array(0))
      }
      return Promise.resolve(out.finish())
    },
  }
}

async function readWhole(
  store: ReturnType<typeof storeOf>,
  count: number,
  ...columns: SizedColumn[][]
): Promise<number> {
  const plan = await planRead(store, WORKSPACE, ids(count))
  await fetchRead(store, plan, ...columns)
  return plan.shown
}

const ids = (count: number): string[] => Array.from({ length: count }, (_, n) => idOf(n))

it('fetches in portions, no portion of more than 32 MB unless it is one column', async () => {
  const store = storeOf([
    [20, 100],
    [1, 1],
  ])
  expect(await readWhole(store, 2)).toBe(1)
  expect(store.asked.map(({ hashes, columns }) => [hashes.length, columns.length])).toEqual([
    [1, 1],
    [1, 1],
  ])
})

it('ends a response before 32 MB, but after the first TraceRun at least', async () => {
  const store = storeOf([
    [12, 13],
    [5, 0],
    [10, 0],
    [1, 0],
  ])
  expect(await readWhole(store, 4)).toBe(2)
  expect(store.asked.flatMap(({ hashes }) => hashes)).toHaveLength(2)
  expect(await readWhole(storeOf([[200, 200]]), 1)).toBe(1)
})

it('reads no payload for attachments', async () => {
  const store = storeOf([[20, 20]])
  await readWhole(store, 1, ['attachments'])
  expect(store.asked).toEqual([])
})

it('does not treat a fragment that the store failed to return as absent', async () => {
  await expect(readWhole(storeOf([[1, 1]], false), 1)).rejects.toMatchObject({
    code: 'store_unavailable',
  })
})
