import { describe, expect, it } from 'vitest'
import type { Message } from '../../api/messages.ts'
import { conversationsOf, repeatedMessages } from './conversation.ts'

const says = (role: string, text: string): Message => ({ role, content: [{ type: 'text', text }] })
const SYSTEM = says('system', 'Be brief.')
const ASKS = says('user', 'How warm is it?')
const CALLS: Message = {
  role: 'assistant',
  content: [
    { type: 'reasoning', text: 'I need the weather.' },
    { type: 'tool_call', id: 'c1', name: 'weather', args: { city: 'Paris' } },
  ],
}
const RESULT: Message = { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: '18' }] }
const ANSWER = says('assistant', 'It is 18 °C.')

describe('the conversation of model calls', () => {
  it('shows each message once, also where the client sends it again without its reasoning', () => {
    const again: Message = { ...CALLS, content: CALLS.content.slice(1) }
    const [only, ...others] = conversationsOf([
      { id: 'a', input: [SYSTEM, ASKS], output: [CALLS] },
      { id: 'b', input: [SYSTEM, ASKS, again, RESULT], output: [ANSWER] },
    ])
    expect(others).toEqual([])
    expect(only?.steps).toEqual([
      { id: 'a', messages: [SYSTEM, ASKS, CALLS], known: 0 },
      { id: 'b', messages: [RESULT, ANSWER], known: 3 },
    ])
  })

  it('is another one where only the instructions are the same, and goes on beside it', () => {
    const other = says('user', 'Is that usual?')
    const found = conversationsOf([
      { id: 'a', input: [SYSTEM, ASKS], output: [CALLS] },
      { id: 'x', input: [SYSTEM, other], output: [says('assistant', 'Yes.')] },
      { id: 'b', input: [SYSTEM, ASKS, CALLS, RESULT], output: [ANSWER] },
    ])
    expect(found.map(({ steps }) => steps.map(({ id }) => id))).toEqual([['a', 'b'], ['x']])
  })

  it('shows what follows a history that was cut or changed', () => {
    const found = conversationsOf([
      { id: 'a', input: [ASKS], output: [ANSWER] },
      { id: 'b', input: [ASKS, says('assistant', 'Edited.'), says('user', 'Thanks')], output: [] },
    ])
    expect(found[0]?.steps[1]?.messages.map(({ role }) => role)).toEqual(['assistant', 'user'])
  })
})

describe('the turns of a thread', () => {
  const turn = (id: string, text: string) => ({
    id,
    input: [SYSTEM, ASKS, CALLS, { ...RESULT, content: [{ type: 'text', text }] }],
    output: [says('assistant', text)],
  })

  it('begin with their question, also where it was asked before', () => {
    const [found] = conversationsOf([turn('a', '18'), turn('b', '20')], { isByTurn: true })
    expect(found?.steps[1]?.messages[0]).toEqual(ASKS)
  })

  it('leave out all that was said before where they go on from it', () => {
    const first = turn('a', '18')
    const more = says('user', 'And tomorrow?')
    const next = { id: 'b', input: [...first.input, ...first.output, more], output: [ANSWER] }
    const resumed = { id: 'c', input: [...next.input, ANSWER, RESULT], output: [ANSWER] }
    const [found] = conversationsOf([first, next, resumed], { isByTurn: true })
    expect(found?.steps.slice(1).map(({ messages }) => messages)).toEqual([
      [more, ANSWER],
      [RESULT, ANSWER],
    ])
  })
})

describe('an answer in a thread', () => {
  const more = says('user', 'And tomorrow?')
  const turns = (second: readonly Message[]) => [
    { id: 'a', input: [SYSTEM, ASKS, CALLS, RESULT], output: [ANSWER] },
    { id: 'b', input: [SYSTEM, ...second], output: [says('assistant', 'Warmer.')] },
  ]
  const newIn = (second: readonly Message[]) =>
    conversationsOf(turns(second), { isByTurn: true })[0]?.steps[1]?.messages.map(({ content }) => content)

  it('is shown once where the next turn is sent without the calls of tools before it', () => {
    expect(newIn([ASKS, ANSWER, more])).toEqual([more.content, says('assistant', 'Warmer.').content])
  })

  it('is shown again where it was changed', () => {
    const edited = says('assistant', 'It is 20 °C.')
    expect(newIn([ASKS, edited, more])?.[0]).toEqual(edited.content)
  })
})

describe('the messages that the call before had', () => {
  const first = { input: [SYSTEM, ASKS], output: [ANSWER] }

  it('are those of its input and output, where they are more than instructions', () => {
    const more = says('user', 'And tomorrow?')
    expect(repeatedMessages(first, [SYSTEM, ASKS, ANSWER, more])).toBe(3)
    expect(repeatedMessages(first, [SYSTEM, more])).toBe(0)
    expect(repeatedMessages({ input: [], output: [] }, [SYSTEM, ASKS])).toBe(0)
  })

  it('end before a call of a tool whose result is new', () => {
    expect(repeatedMessages({ input: [SYSTEM, ASKS], output: [CALLS] }, [SYSTEM, ASKS, CALLS, RESULT])).toBe(
      2,
    )
  })
})
