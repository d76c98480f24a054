import { describe, expect, it } from 'vitest'
import type { ThreadStep } from './step.ts'
import { lineOf, placeThatSet } from './value-origin.ts'

function step(id: string, parent: string | null): ThreadStep {
  const [checkpoint, parent_checkpoint] = [id, parent].map((name) => name && { checkpoint_id: name })
  const fields = { metadata: null, created_at: '', next: [], tasks: [], values_bytes: 0 }
  return { checkpoint, parent_checkpoint, ...fields } as unknown as ThreadStep
}

/** For 3, the checkpoints `2`, `1` and `0`; each is the child of the next one in the list. */
function chain(length: number): ThreadStep[] {
  return Array.from({ length }, (_, place) => {
    const number = length - 1 - place
    return step(String(number), number === 0 ? null : String(number - 1))
  })
}

/** Finds the checkpoint that set a value, and counts the reads. */
async function search(values: readonly unknown[]): Promise<{ place: number; reads: number }> {
  const line = chain(values.length)
  let reads = 0
  const place = await placeThatSet(line, async ({ checkpoint }) => {
    reads += 1
    return await Promise.resolve(values[values.length - 1 - Number(checkpoint.checkpoint_id)])
  })
  return { place, reads }
}

describe('ui §9.7: the step that introduced a value', () => {
  it('is the oldest one that has it, wherever it is', async () => {
    for (const length of [1, 2, 3, 7, 8, 50])
      for (let at = 0; at < length; at += 1) {
        const values = Array.from({ length }, (_, place) => (place <= at ? { same: [1] } : 'other'))
        expect([length, at, (await search(values)).place]).toEqual([length, at, at])
      }
  })

  it('has the value, and the one before it another, also where the value came several times', async () => {
    const values = ['a', 'a', 'b', 'a', 'a', 'a', 'a', 'a', 'b', 'b']
    const { place } = await search(values)
    expect([values[place], values[place + 1]]).toEqual(['a', 'b'])
  })

  it('is found among 2,000 checkpoints with few reads', async () => {
    const values = Array.from({ length: 2000 }, (_, place) => place <= 1234)
    const { place, reads } = await search(values)
    expect([place, reads < 30]).toEqual([1234, true])
  })

  it('is searched on the branch of the selected checkpoint, as far as it is loaded', () => {
    const [root, left, right, end] = [
      step('root', 'earlier'),
      step('left', 'root'),
      step('right', 'root'),
      step('end', 'right'),
    ] as const
    const steps = [end, right, left, root]
    expect(lineOf(steps, end)).toEqual([end, right, root])
    expect(lineOf(steps, left)).toEqual([left, root])
  })
})
