import {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages'
import { PromptTemplate } from '@langchain/core/prompts'
import { Send } from '@langchain/langgraph'
import { DeltaSnapshot, type SerializerProtocol, MemorySaver } from '@langchain/langgraph-checkpoint'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeValue, encodePlain, encodeValue } from './serde.ts'
import { tries } from '../../../../test/support/properties.ts'

const serde: SerializerProtocol = new MemorySaver().serde

const key = fc
  .oneof(fc.string(), fc.constantFrom('lc', 'type', 'id', 'kwargs', 'value', 'a'))
  .filter((k) => k !== '__proto__')
const plain = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, undefined, true, 0, -1.5, '', 'text', '\0', '\ud800', '"lc":2', 'constructor'),
    fc.string(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  ),
})).value

const message = fc
  .record({
    content: fc.oneof(
      fc.string(),
      fc.constant<{ type: 'text'; text: string }[]>([{ type: 'text', text: 'hi' }]),
    ),
    id: fc.option(fc.string(), { nil: undefined }),
    name: fc.option(fc.string(), { nil: undefined }),
    extra: plain,
    kind: fc.nat({ max: 7 }),
  })
  .map(({ content, id, name, extra, kind }) => {
    const fields = { content, ...(id === undefined ? {} : { id }), ...(name === undefined ? {} : { name }) }
    const additional_kwargs = { extra }
    if (kind === 0) return new HumanMessage({ ...fields, additional_kwargs })
    if (kind === 1) return new SystemMessage({ ...fields, response_metadata: { extra } })
    if (kind === 2)
      return new ToolMessage({ ...fields, tool_call_id: 'call', artifact: extra, status: 'error' })
    if (kind === 3) return new RemoveMessage({ id: id ?? 'gone' })
    if (kind === 4) return new ChatMessage({ ...fields, role: 'critic' })
    if (kind === 5) return new FunctionMessage({ ...fields, name: 'f' })
    const tool_calls = [{ id: 'call', name: 'f', args: { extra }, type: 'tool_call' as const }]
    const usage_metadata = { input_tokens: 1, output_tokens: 2, total_tokens: 3 }
    const ai: object = { ...fields, usage_metadata }
    if (kind === 6) return new AIMessage({ ...ai, additional_kwargs, tool_calls })
    const tool_call_chunks = [
      { id: 'call', name: 'f', args: '{"a":', index: 0, type: 'tool_call_chunk' as const },
    ]
    return new AIMessageChunk({ ...ai, tool_call_chunks })
  })

const special = fc.oneof(
  fc.array(plain).map((items) => new Set(items)),
  fc.array(fc.tuple(plain, plain)).map((entries) => new Map(entries)),
  fc.uint8Array({ maxLength: 8 }),
  fc.string().map((text) => new Error(text)),
  fc.constantFrom(
    /a+/gi,
    new Date(1e12),
    new Send('node', { a: 1 }),
    new PromptTemplate({ inputVariables: ['a'], template: '{a}' }),
  ),
  plain.map((value) => new DeltaSnapshot(value)),
)

const anything = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    plain,
    message,
    special,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  ),
})).value

/** The value after a round trip through LangChain's serializer; undefined if that fails. */
async function theirs(value: unknown): Promise<{ text: string; value: unknown } | undefined> {
  const [, bytes] = await serde.dumpsTyped(value)
  const text = new TextDecoder().decode(bytes)
  try {
    return { text, value: await serde.loadsTyped('json', text) }
  } catch {
    return undefined
  }
}

describe('values of checkpoints', () => {
  it('are text of the same format, and the same objects after it, as with the serializer of LangChain', async () => {
    await fc.assert(
      fc.asyncProperty(anything, async (value) => {
        if (value instanceof Uint8Array) return
        const expected = await theirs(value)
        const stored = await encodeValue(serde, value)
        expect(stored.type).toBe('json')
        if (expected === undefined) {
          await expect((async () => await decodeValue(serde, stored))()).rejects.toThrow()
          return
        }
        expect(stored.value).toBe(expected.text)
        expect(await decodeValue(serde, stored)).toStrictEqual(expected.value)
      }),
      tries(2_000),
    )
  })

  it('are parsed at once if they consist of messages, JSON and built-in types', () => {
    const value = {
      messages: [new HumanMessage({ id: '1', content: 'hi' })],
      set: new Set([1]),
      none: undefined,
    }
    const stored = encodePlain(value)
    const decoded: unknown = stored && decodeValue(serde, stored)
    expect(decoded).toStrictEqual(value)
  })

  it('may be bytes, cycles and functions', async () => {
    const through = async (value: unknown): Promise<unknown> =>
      await decodeValue(serde, await encodeValue(serde, value))
    expect(await through(Uint8Array.of(0, 255))).toStrictEqual(Uint8Array.of(0, 255))
    const cycle: { self?: unknown; n: number } = { n: 1 }
    cycle.self = cycle
    expect(await through(cycle)).toStrictEqual({ self: '[Circular]', n: 1 })
    expect(await through(() => 1)).toBeUndefined()
    expect(await through({ f: () => 1, n: 1 })).toStrictEqual({ n: 1 })
  })

  it('are refused where the serializer of LangChain stores a text about its failure', async () => {
    const cycle: { self?: unknown; n: bigint } = { self: undefined, n: 10n }
    cycle.self = cycle
    const throwing = { toJSON: () => JSON.parse('') as unknown }
    for (const value of [10n, { a: [10n] }, new Map([['a', 10n]]), new Set([10n]), cycle, throwing]) {
      await expect(encodeValue(serde, value)).rejects.toThrow('no form for a part of it, such as a bigint')
      expect((await theirs(value))?.value).toMatch('unable to serialize')
    }
    const text = '[unable to serialize, circular reference is too complex to analyze]'
    expect(await decodeValue(serde, await encodeValue(serde, text))).toBe(text)
  })

  it('do not change any prototype', async () => {
    const text =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"x":{"lc":2,"type":"undefined"}}'
    const decoded = await decodeValue(serde, { type: 'json', value: text })
    expect(Object.keys(decoded as object)).toEqual(['__proto__', 'constructor', 'x'])
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})
