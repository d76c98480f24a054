import { describe, expect, it } from 'vitest'
import { expectCpuBelow } from '../../../test/support/cpu-bound.ts'
import type { Message } from '../../schema/types.gen.ts'
import { previewOf } from './preview.ts'

const bytes = (value: unknown): Uint8Array =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
const inputs = (value: unknown) =>
  previewOf({ side: 'inputs', messages: undefined, raw: bytes(value), mapped: undefined })
const outputs = (value: unknown) =>
  previewOf({ side: 'outputs', messages: undefined, raw: bytes(value), mapped: undefined })

const ASKS = { role: 'user', content: 'Where is my order?' }
const CALLS = {
  role: 'assistant',
  content: null,
  tool_calls: [
    { id: 'c', type: 'function', function: { name: 'lookup_order', arguments: '{"order_id": 11536}' } },
  ],
}
const RESULT = { role: 'tool', tool_call_id: 'c', content: '{"state": "shipped"}' }
const ANSWERS = { role: 'assistant', content: 'It comes on **Thursday**.' }
const lc = (name: string, content: string) => ({
  lc: 1,
  type: 'constructor',
  id: ['langchain_core', 'messages', name],
  kwargs: { content },
})

describe('what was asked, in words', () => {
  it('is the last text of the user in every spelling of messages', () => {
    const expected = 'Where is my order?'
    expect(inputs({ messages: [{ role: 'system', content: 'Be brief.' }, ASKS, CALLS, RESULT] })).toBe(
      expected,
    )
    expect(inputs({ messages: [{ type: 'human', content: expected }] })).toBe(expected)
    expect(inputs({ messages: [[lc('SystemMessage', 'Be brief.'), lc('HumanMessage', expected)]] })).toBe(
      expected,
    )
    expect(inputs({ messages: [{ type: 'human', data: { content: expected } }] })).toBe(expected)
    expect(inputs({ messages: [['user', expected]] })).toBe(expected)
    expect(inputs({ input: { messages: [ASKS] } })).toBe(expected)
    expect(inputs({ contents: [{ role: 'user', parts: [{ text: expected }] }] })).toBe(expected)
    expect(
      inputs({
        messages: [{ role: 'user', content: [{ type: 'text', text: expected }, { type: 'image_url' }] }],
      }),
    ).toBe(`${expected}\n[image]`)
  })

  it('is the field that says it, the only field, or the text itself', () => {
    expect(inputs({ question: 'Why?', locale: 'en' })).toBe('Why?')
    expect(inputs({ chat_history: [ANSWERS], input: 'Why?' })).toBe('Why?')
    expect(inputs({ topic: 'Solar power' })).toBe('Solar power')
    expect(inputs('"Say hello"')).toBe('Say hello')
    expect(inputs('[unable to serialize]')).toBe('[unable to serialize]')
  })

  it('is the fields of other objects, and nothing where there is nothing', () => {
    expect(inputs({ order_id: 11536, verbose: true, tags: ['a', 'b'], of: { x: null } })).toBe(
      'order_id: 11536, verbose: true, tags: [a, b], of: {x: null}',
    )
    expect([inputs({}), inputs([]), inputs('null')]).toEqual(['', '', ''])
    expect(inputs({ a: 1, vector: Array.from({ length: 1536 }, () => 0.5) })).toBe(
      'a: 1, vector: [1536 numbers]',
    )
  })
})

describe('what was answered, in words', () => {
  it('is the last text of the assistant, or the call of a tool', () => {
    expect(outputs({ messages: [ASKS, CALLS, RESULT, ANSWERS] })).toBe('It comes on **Thursday**.')
    expect(outputs({ messages: [CALLS] })).toBe('→ lookup_order(order_id: 11536)')
    expect(outputs({ agent: { messages: [{ type: 'ai', content: 'Yes', tool_calls: [] }] } })).toBe('Yes')
    expect(outputs({ choices: [{ index: 0, finish_reason: 'stop', message: CALLS }] })).toBe(
      '→ lookup_order(order_id: 11536)',
    )
    expect(
      outputs({ generations: [[{ text: 'This is new.', message: lc('AIMessage', 'This is new.') }]] }),
    ).toBe('This is new.')
    const content = [
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 't', name: 'search', input: { query: 'refund' } },
    ]
    expect(outputs({ role: 'assistant', content })).toBe('I look. → search(query: refund)')
  })

  it('is the number of documents and the first of them', () => {
    const documents = [{ page_content: 'Returns are possible.' }, { page_content: 'Refunds' }]
    expect(outputs({ documents })).toBe('2 documents: Returns are possible.')
    expect(outputs(documents.slice(1))).toBe('1 document: Refunds')
    expect(outputs({ documents: [] })).toBe('no documents')
  })

  it('is that of the canonical messages of a model call, whose input may end with the result of a tool', () => {
    const text = (role: string, value: string) =>
      ({ role, content: [{ type: 'text', text: value }] }) as Message
    const call = (side: 'inputs' | 'outputs', messages: Message[]) =>
      previewOf({ side, messages, raw: undefined, mapped: undefined })
    expect(call('inputs', [text('user', 'Why?'), text('tool', '503')])).toBe('503')
    const calls = {
      role: 'assistant',
      content: [{ type: 'tool_call', name: 'f', args: { a: 1 } }],
    } as unknown as Message
    expect(call('outputs', [calls])).toBe('→ f(a: 1)')
  })
})

describe('a preview of much', () => {
  it('is cut to 500 characters', () => {
    const told = outputs({ answer: `${'a'.repeat(498)}🙂🙂` })
    expect([told.length, told.at(-1), told.at(-2)]).toEqual([499, '…', 'a'])
  })

  it('is read without parsing a large payload: the last message of the user in a state of megabytes', () => {
    const image = { type: 'image', data: 'A'.repeat(200_000) }
    const state = { messages: [ASKS, ANSWERS, { role: 'user', content: 'And "now"?' }], files: [image], n: 1 }
    expect(inputs(state)).toBe('And "now"?')
    expect(inputs({ question: `Why "${'x'.repeat(100_000)}"?` })).toMatch(/^Why "x{494}…$/)
    expect(inputs({ messages: [ASKS], files: Array.from({ length: 9 }, () => image) })).toBe(
      'Where is my order?',
    )
  })

  it('of many, deep or broken values takes neither long nor an error', () => {
    expect(inputs(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)).toBe('')
    expect(inputs(`{"a":${'['.repeat(100_000)}`)).toBe('')
    expect(inputs(`{"question":"Why \\`.padEnd(40_000, 'x'))).toContain('Why')
    expect(inputs(`not JSON ${'x'.repeat(40_000)}`)).toMatch(/^not JSON x+/)
    const many = { rows: Array.from({ length: 200_000 }, (_, n) => ({ n })) }
    expectCpuBelow(1, () => inputs(many))
  })
})
