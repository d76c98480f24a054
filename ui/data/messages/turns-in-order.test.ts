import { describe, expect, it } from 'vitest'
import type { Message } from '../../api/messages.ts'
import { turnsInOrder, turnsOfPages } from './turns-in-order.ts'

const says = (role: string, text: string): Message => ({ role, content: [{ type: 'text', text }] })
const ASKS = says('user', 'How warm is it?')
const ANSWER = says('assistant', 'It is 18 °C.')
const MORE = says('user', 'And tomorrow?')
const LATER = says('assistant', 'Rain.')

const FIRST = { id: 'a', input: [ASKS], output: [ANSWER] }
const SECOND = { id: 'b', input: [ASKS, ANSWER, MORE], output: [LATER] }
const at = (trace_id: string, second: number) => ({ trace_id, start_time: `2026-01-01T00:00:0${second}Z` })
const TURNS = [at('a', 1), at('b', 2)]

describe('the turns of a thread', () => {
  it('show a question once', () => {
    const calls = new Map([FIRST, SECOND].map((call) => [call.id, call]))
    expect(turnsInOrder(TURNS, calls).map(({ messages }) => messages)).toEqual([
      [ASKS, ANSWER],
      [MORE, LATER],
    ])
  })

  it.each([
    ['is not read, or cannot be read', new Map([['b', SECOND]])],
    ['has no model call', new Map([['a', null] as const, ['b', SECOND] as const])],
  ])('show a question once where the turn above %s', (_, calls) => {
    expect(turnsInOrder(TURNS, calls).map(({ messages }) => messages)).toEqual([undefined, [MORE, LATER]])
  })

  it('show instructions, and all that is new below a turn that is read', () => {
    const system = says('system', 'Be brief.')
    const second = { ...SECOND, input: [system, ...SECOND.input] }
    const again = says('user', 'Please')
    const third = { id: 'c', input: [...second.input, LATER, MORE, again], output: [LATER] }
    const calls = new Map([second, third].map((call) => [call.id, call]))
    expect(turnsInOrder([...TURNS, at('c', 3)], calls).map(({ messages }) => messages)).toEqual([
      undefined,
      [system, MORE, LATER],
      [MORE, again, LATER],
    ])
  })

  it('that start at the same time are in the order of their histories', () => {
    const calls = new Map([FIRST, SECOND].map((call) => [call.id, call]))
    const turns = [at('0', 0), at('b', 1), at('a', 1), at('c', 2)]
    const shown = turnsInOrder(turns, calls)
    expect(shown.map(({ turn }) => turn.trace_id)).toEqual(['0', 'a', 'b', 'c'])
    expect(turnsInOrder([at('b', 1), at('a', 1)], calls).map(({ messages }) => messages)).toEqual([
      [ASKS, ANSWER],
      [MORE, LATER],
    ])
  })

  it('are shown once each where a start changes between the reads of two pages', () => {
    const moved = at('a', 3)
    expect(turnsOfPages([{ items: TURNS }, { items: [moved, at('c', 4)] }])).toEqual([
      at('b', 2),
      moved,
      at('c', 4),
    ])
  })
})
