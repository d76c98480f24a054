import { expect, it } from 'vitest'
import { payloadMessages, payloadTexts } from './payload-messages.ts'

const said = (text: string) => ({ type: 'text', text })

it('messages of a chain are read in the spellings of OpenAI, LangChain and Anthropic', () => {
  const call = { type: 'tool_call', id: 'c', name: 'look_up', args: { id: 7 } }
  const spelled = [
    { role: 'user', content: 'Where is it?' },
    { lc: 1, type: 'constructor', id: ['langchain', 'HumanMessage'], kwargs: { content: 'Where is it?' } },
    { type: 'human', data: { content: 'Where is it?' } },
    ['user', 'Where is it?'],
    { type: 'human', content: [{ type: 'text', text: 'Where is it?' }] },
  ]
  for (const one of spelled)
    expect(payloadMessages({ messages: [one] })?.messages).toEqual([
      { role: 'user', content: [said('Where is it?')] },
    ])
  const calling = [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c', function: { name: 'look_up', arguments: '{"id":7}' } }],
    },
    { type: 'ai', content: '', tool_calls: [{ id: 'c', name: 'look_up', args: { id: 7 } }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'look_up', input: { id: 7 } }] },
  ]
  for (const one of calling)
    expect(payloadMessages([one])?.messages).toEqual([{ role: 'assistant', content: [call] }])
})

it('fields beside the messages stay, and a single field around them does not count', () => {
  const messages = [{ role: 'tool', content: '18 °C', name: 'weather', tool_call_id: 'c' }]
  const read = [{ role: 'tool', content: [said('18 °C')], name: 'weather', tool_call_id: 'c' }]
  expect(payloadMessages({ messages, customer: 'gold' })).toEqual({
    messages: read,
    rest: { customer: 'gold' },
  })
  expect(payloadMessages({ input: { messages } })).toEqual({ messages: read, rest: undefined })
})

it('what is no conversation is not read as one', () => {
  for (const value of [
    null,
    'hello',
    [],
    {},
    { messages: [] },
    { messages: ['hello'] },
    { messages: [{ role: 'pilot', content: 'x' }] },
  ])
    expect(payloadMessages(value)).toBeUndefined()
  expect(payloadMessages([{ role: 'user', content: 'x' }, { a: 1 }])).toBeUndefined()
})

it('long texts, and a text that is the only field, are told from other fields', () => {
  expect(payloadTexts({ question: 'Why?' })).toEqual({ texts: [['question', 'Why?']], rest: undefined })
  expect(payloadTexts({ report: '# A\n\n**b**', city: 'Paris', n: 3 })).toEqual({
    texts: [['report', '# A\n\n**b**']],
    rest: { city: 'Paris', n: 3 },
  })
  expect(payloadTexts([1])).toEqual({ texts: [], rest: undefined })
})
