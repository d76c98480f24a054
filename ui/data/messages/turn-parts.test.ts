import { describe, expect, it } from 'vitest'
import type { Message } from '../../api/messages.ts'
import { toolNamesOf, turnParts } from './turn-parts.ts'

const said = (role: string, text: string): Message => ({ role, content: [{ type: 'text', text }] })
const called = (...names: string[]): Message => ({
  role: 'assistant',
  content: names.map((name) => ({ type: 'tool_call', name, args: {} })),
})
const result = said('tool', 'found')

describe('the parts of a turn', () => {
  it('are the question, what was done for it, and the answer', () => {
    const [system, question, answer] = [said('system', 's'), said('user', 'q'), said('assistant', 'a')]
    const middle = [called('search'), result, called('search', 'lookup'), result, result]
    expect(turnParts([system, question, ...middle, answer])).toEqual({
      asked: [system, question],
      between: middle,
      answer: [answer],
    })
    expect(toolNamesOf(middle)).toBe('search × 2, lookup')
  })

  it('have nothing between where there is no answer or no tool', () => {
    const [question, answer, call] = [said('user', 'q'), said('assistant', 'a'), called('search')]
    expect(turnParts([question, answer])).toEqual({ asked: [question], between: [], answer: [answer] })
    expect(turnParts([question, call, result])).toEqual({
      asked: [question],
      between: [],
      answer: [call, result],
    })
    expect(turnParts([call, answer])).toEqual({ asked: [], between: [call], answer: [answer] })
    expect(turnParts([])).toEqual({ asked: [], between: [], answer: [] })
  })
})
