import { describe, expect, it } from 'vitest'
import { type HistorySource, readThreadHistory } from './history.ts'
import { createStateTexts } from './state-texts.ts'

const MB = 1 << 20
const CALL = {
  name: 'history',
  graph_id: 'g',
  config: {},
  made_with: {},
  before: null,
  metadata: null,
  select: null,
} as const

/** A graph with `count` states of `mb` megabytes each; it counts how many of them are read. */
function graphOf(count: number, mb: number) {
  const made: number[] = []
  const graph = {
    async *getStateHistory(_config: object, { limit }: { limit: number }) {
      for (let n = 0; n < Math.min(count, limit); n++) {
        made.push(n)
        const config = { configurable: { thread_id: 't', checkpoint_id: `c${n}` } }
        yield { values: { x: 'x'.repeat(mb * MB) }, next: [], tasks: [], config, metadata: {} }
      }
    },
  }
  const source = { graph, storage: {}, tenant: {}, texts: undefined } as unknown as HistorySource
  return { source, made }
}

describe('a history', () => {
  it('N16: has only the selected fields, and the size of values that are not sent', async () => {
    const select = ['checkpoint', 'values_bytes']
    const { body } = await readThreadHistory(graphOf(100, 1).source, { ...CALL, select, limit: 100 })
    const states = JSON.parse(body) as { values_bytes: number }[]
    expect(states).toHaveLength(100)
    expect(Object.keys(states[0] ?? {})).toEqual(['checkpoint', 'values_bytes'])
    expect(states[0]?.values_bytes).toBe(MB + '{"x":""}'.length)
  })

  it('N16: is cached for the same fields only: no field and all differ, and names may contain commas', async () => {
    const { source } = graphOf(1, 0)
    const marks = async () => [{ checkpoint_id: 'c0', mark: '1' }]
    const cached = { ...source, storage: { marks }, texts: createStateTexts(MB) } as HistorySource
    const config = { configurable: { thread_id: 't' } }
    const fieldsOf = async (select: readonly string[] | null): Promise<string[]> => {
      const { body } = await readThreadHistory(cached, { ...CALL, config, select, limit: 1 })
      return Object.keys((JSON.parse(body) as object[])[0] ?? {})
    }
    expect(await fieldsOf([])).toEqual([])
    expect(await fieldsOf(null)).toContain('values')
    expect(await fieldsOf(['next,metadata'])).toEqual([])
    expect(await fieldsOf(['next', 'metadata'])).toEqual(['next', 'metadata'])
  })

  it('stops before 32 MB, returns the checkpoint to continue from, and reads no further states', async () => {
    const { source, made } = graphOf(1000, 10)
    const { body, next } = await readThreadHistory(source, { ...CALL, limit: 1000 })
    expect(body.length).toBeLessThan(32 * MB)
    expect((JSON.parse(body) as unknown[]).length).toBe(3)
    expect(next).toBe('c2')
    expect(made).toHaveLength(4)
  })

  it('has its first state whatever its size, and no checkpoint to continue from when it is complete', async () => {
    const large = await readThreadHistory(graphOf(2, 40).source, { ...CALL, limit: 10 })
    expect(large.next).toBe('c0')
    const small = await readThreadHistory(graphOf(2, 1).source, { ...CALL, limit: 10 })
    expect(small).not.toHaveProperty('next')
    expect((JSON.parse(small.body) as unknown[]).length).toBe(2)
  })
})
