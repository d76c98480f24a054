import { describe, expect, it } from 'vitest'
import { type ReadHistory, readShownHistory } from './shown-history.ts'

/** A server with states of the given ids, newest first, each `[id, id of its parent]`. */
function serverOf(stored: readonly (readonly [string, string | null])[]) {
  const requests: Parameters<ReadHistory>[1][] = []
  const read = (async (_thread: string, options: Parameters<ReadHistory>[1]) => {
    requests.push(options)
    const wanted = options.checkpoint?.checkpoint_id
    const isWhole = options.select.includes('values.messages')
    return stored
      .filter(([id]) => wanted === undefined || id === wanted)
      .slice(0, options.limit)
      .map(([id, parent]) => ({
        checkpoint: { checkpoint_id: id },
        parent_checkpoint: parent === null ? null : { checkpoint_id: parent },
        values: { messages: [{ id: 'm', ...(isWhole && { content: `text of ${id}` }) }] },
      }))
  }) as unknown as ReadHistory
  return { read, requests }
}

const LINE = [
  ['3', '2'],
  ['2', '1'],
  ['1', null],
] as const

describe('the history that the hook of Studio reads (N16)', () => {
  it('has the messages of the newest state, and only their ids in those before', async () => {
    const { read, requests } = serverOf(LINE)
    const states = await readShownHistory(read, 't', { limit: 20 })
    expect(states.map(({ values }) => values)).toEqual([
      { messages: [{ id: 'm', content: 'text of 3' }] },
      { messages: [{ id: 'm' }] },
      { messages: [{ id: 'm' }] },
    ])
    expect(requests.map(({ limit }) => limit)).toEqual([20, 1])
    expect(requests.flatMap(({ select }) => select)).not.toContain('values')
  })

  it('has the messages of the end of every branch, since each can be shown', async () => {
    const { read } = serverOf([['4', '1'], ...LINE])
    const states = await readShownHistory(read, 't', { limit: 20 })
    const whole = states.filter(({ values }) => JSON.stringify(values).includes('text of'))
    expect(whole.map(({ checkpoint }) => checkpoint.checkpoint_id)).toEqual(['4', '3'])
  })

  it('is one request for one state', async () => {
    const { read, requests } = serverOf(LINE)
    expect(await readShownHistory(read, 't', { limit: 1 })).toHaveLength(1)
    expect(requests).toHaveLength(1)
  })
})
