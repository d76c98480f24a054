import { describe, expect, it } from 'vitest'
import type { Message } from '../../api/messages.ts'
import { toolResults } from './tool-results.ts'

const calls = (...ids: string[]): Message => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool_call', id, name: 'weather', args: {} })),
})
const answers = (id: string, text: string): Message => ({
  role: 'tool',
  tool_call_id: id,
  content: [{ type: 'text', text }],
})

/** The texts that answer the calls of a message; undefined for calls without an answer. */
function answersOf(message: Message, messages: readonly Message[]): unknown[] {
  const { of } = toolResults(messages)
  return message.content.map((call) => of.get(call)?.content[0]?.['text'])
}

describe('results of tools', () => {
  it('answer the call before them where ids are used again in each turn', () => {
    const [first, second] = [calls('call_0'), calls('call_0')]
    const messages = [first, answers('call_0', 'Kyoto'), second, answers('call_0', 'Hanoi')]
    expect([answersOf(first, messages), answersOf(second, messages)]).toEqual([['Kyoto'], ['Hanoi']])
  })

  it('do not answer a call of an earlier turn that had no answer', () => {
    const [failed, second] = [calls('call_0'), calls('call_0')]
    const messages = [failed, second, answers('call_0', 'Hanoi')]
    expect([answersOf(failed, messages), answersOf(second, messages)]).toEqual([[undefined], ['Hanoi']])
  })

  it('answer parallel calls in their order, also with equal ids', () => {
    const both = calls('a', 'a', 'b')
    const messages = [both, answers('b', '3'), answers('a', '1'), answers('a', '2')]
    expect(answersOf(both, messages)).toEqual(['1', '2', '3'])
  })

  it('are messages of their own without a call, and after it was answered', () => {
    const call = calls('a')
    const [first, again, lost] = [answers('a', '1'), answers('a', '2'), answers('z', '?')]
    const { joined } = toolResults([lost, call, first, again])
    expect([lost, first, again].map((message) => joined.has(message))).toEqual([false, true, false])
  })
})
