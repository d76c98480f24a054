import { AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages'
import { Document } from '@langchain/core/documents'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { graphJsonText } from './json-text.ts'
import { tries } from '../../../test/support/properties.ts'

/** The output of LangGraph's JS server, in which messages are the flat result of their `toDict`. */
function reference(value: unknown): unknown {
  const text = JSON.stringify(value, function (this: Record<string, unknown>, key: string, made: unknown) {
    const raw = this[key]
    if (typeof raw !== 'object' || raw === null || !('toDict' in raw) || typeof raw.toDict !== 'function')
      return made
    const { type, data } = raw.toDict() as { type: string; data: object }
    return { ...data, type }
  })
  return text === undefined ? null : (JSON.parse(text) as unknown)
}

const content = fc.oneof(
  fc.string(),
  fc.array(fc.record({ type: fc.constant('text'), text: fc.string() }), { maxLength: 2 }),
)
/**
 * Whether the reference can print a value unchanged, as Weir does. LangChain drops or wraps members with these names.
 */
const isPrintable = (value: unknown): boolean => !/"(__proto__|lc)":/.test(JSON.stringify(value))
const data = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 2 }).filter(isPrintable)
const base = {
  content,
  id: fc.option(fc.uuid(), { nil: undefined }),
  name: fc.option(fc.string(), { nil: undefined }),
  additional_kwargs: data,
  response_metadata: data,
}
const usage = fc.record({ input_tokens: fc.nat(), output_tokens: fc.nat(), total_tokens: fc.nat() })
const toolCalls = fc.array(
  fc.record({
    id: fc.uuid(),
    name: fc.string(),
    args: fc.dictionary(fc.string(), fc.string()).filter(isPrintable),
  }),
  {
    maxLength: 2,
  },
)
const message = fc.oneof(
  fc.record(base).map((fields) => new HumanMessage(fields as never)),
  fc.record(base).map((fields) => new SystemMessage(fields as never)),
  fc.record({ ...base, tool_call_id: fc.uuid() }).map((fields) => new ToolMessage(fields as never)),
  fc
    .record({ ...base, tool_calls: toolCalls, usage_metadata: usage })
    .map((fields) => new AIMessage(fields as never)),
  fc.record(base).map((fields) => new AIMessageChunk(fields as never)),
  fc
    .tuple(fc.string(), fc.string())
    .map(([a, b]) =>
      new AIMessageChunk({ id: 'm', content: a }).concat(new AIMessageChunk({ id: 'm', content: b })),
    ),
)

describe('toJsonText', () => {
  it('prints states with messages as the JS server does', () => {
    const state = fc.record({
      messages: fc.array(message, { maxLength: 3 }),
      deep: fc.array(fc.record({ message })),
      rest: fc.jsonValue(),
    })
    fc.assert(
      fc.property(state, (value) => {
        expect(JSON.parse(graphJsonText(value))).toEqual(reference(value))
      }),
      tries(),
    )
  })

  it('prints messages without their constructor envelope', () => {
    expect(JSON.parse(graphJsonText(new AIMessage({ id: 'a', content: 'hi' })))).toEqual({
      id: 'a',
      content: 'hi',
      type: 'ai',
      tool_calls: [],
      invalid_tool_calls: [],
      additional_kwargs: {},
      response_metadata: {},
    })
  })

  it('prints values that JSON would lose or refuse', () => {
    const value = {
      map: new Map([['a', 1]]),
      set: new Set([1, 2]),
      big: 2n ** 64n,
      error: new RangeError('no'),
      nothing: undefined,
    }
    expect(JSON.parse(graphJsonText(value))).toEqual({
      map: { a: 1 },
      set: [1, 2],
      big: '18446744073709551616',
      error: { error: 'RangeError', message: 'no' },
    })
    expect(graphJsonText(undefined)).toBe('null')
  })

  it('prints other objects by their toJSON', () => {
    const when = new Date(0)
    expect(JSON.parse(graphJsonText({ when, document: new Document({ pageContent: 'x' }) }))).toEqual({
      when: '1970-01-01T00:00:00.000Z',
      document: { pageContent: 'x', metadata: {} },
    })
  })

  it('refuses a cycle with an error instead of running out of stack', () => {
    const cyclic: Record<string, unknown> = {}
    cyclic['self'] = [{ cyclic }]
    expect(() => graphJsonText(cyclic)).toThrow(/cycle/)
  })

  it('does not change the printed objects', () => {
    const message = new HumanMessage('hi')
    const value = { list: [message] }
    graphJsonText(value)
    expect(value.list[0]).toBe(message)
  })
})
