import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type JsonValue, isObject } from '../src/schema/json.ts'
import { createRegistry } from '../src/schema/registry.ts'
import type { Hints, Normalized, Processor, Side } from '../src/trace/messages/processor.ts'
import { builtInProcessors } from './index.ts'
import { tries } from '../test/support/properties.ts'
import { someInShort } from '../test/support/length.ts'

const registry = createRegistry()
const SIDES: readonly Side[] = ['inputs', 'outputs']
const HINTS: Hints = {
  run_type: 'llm',
  provider: undefined,
  model: undefined,
  metadata: {},
  inputs_format: undefined,
}

/** Words of the formats, so that random values are similar to real ones. */
const KEYS = (
  'messages message role content type text choices delta tool_calls function arguments id name ' +
  'input output instructions prompt prompts generations lc kwargs data parts contents candidates ' +
  'system source image_url url base64 tool_use_id tool_call_id toolCallId toolUse toolResult ' +
  'functionCall functionResponse index summary usage finishReason toolCalls args value event ' +
  'reasoning thinking __proto__ constructor '
)
  .trim()
  .split(' ')
const WORDS = (
  'user assistant system tool developer function model human ai text image file audio video ' +
  'reasoning tool_call tool_use tool_result thinking image_url input_text output_text function_call ' +
  'function_call_output message tool-call tool-result web_search_call server_tool_call ' +
  'server_tool_result content_block_start content_block_delta message_start chat.completion.chunk ' +
  'response constructor document refusal data:image/png;base64,AA== {"a":1} { '
)
  .trim()
  .split(' ')

const { value: anyValue } = fc.letrec<{ value: JsonValue; object: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<JsonValue>(...WORDS),
    fc.oneof(fc.string(), fc.integer(), fc.double({ noNaN: true }), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
    tie('object'),
  ),
  object: fc
    .array(fc.tuple(fc.constantFrom(...KEYS), tie('value')), { maxLength: 6 })
    .map(
      (entries) =>
        JSON.parse(
          `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join()}}`,
        ) as JsonValue,
    ),
}))

/** The shapes that formats accept, with random content. */
const nearValue = fc.oneof(
  anyValue,
  fc.array(anyValue, { maxLength: 4 }).map((messages): JsonValue => ({ messages })),
  fc
    .array(fc.record({ role: fc.constantFrom(...WORDS), content: anyValue, tool_calls: anyValue }), {
      maxLength: 4,
    })
    .map((messages): JsonValue => ({ model: 'm', messages })),
  fc
    .array(fc.record({ message: anyValue, delta: anyValue, text: anyValue }), { maxLength: 3 })
    .map((choices): JsonValue => ({ choices })),
  fc
    .array(
      fc.record({
        type: fc.constantFrom(...WORDS),
        text: anyValue,
        id: anyValue,
        input: anyValue,
        content: anyValue,
      }),
      { maxLength: 4 },
    )
    .map((content): JsonValue => ({ role: 'assistant', content })),
)

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) deepFreeze(inner)
  }
  return value
}

function expectSound(normalized: Normalized): void {
  for (const message of normalized.messages)
    expect(registry.check('message', message)).toMatchObject({ ok: true })
  expect(normalized.issues.length).toBeLessThanOrEqual(100)
  for (const issue of normalized.issues) {
    expect(issue.code).toMatch(/^[a-z][a-z0-9_]+$/)
    expect(issue.path).not.toMatch(/^\./)
    expect(issue.message).not.toBe('')
    expect(issue.fix).toBeTruthy()
  }
}

describe.each(builtInProcessors.map((processor) => [processor.name, processor] as const))(
  '%s',
  (name, processor) => {
    it('accepts any value: never throws, never changes it, returns messages that fit the schema', () => {
      fc.assert(
        fc.property(nearValue, fc.constantFrom(...SIDES), (value, side) => {
          deepFreeze(value)
          expect([0, 1, 2]).toContain(processor.match(side, value, HINTS))
          expectSound(processor.normalize(side, value, HINTS))
        }),
        tries(400),
      )
    })

    it('accepts JSON that is 1,000 deep and 25,000 wide', () => {
      const deep = (inner: string) =>
        JSON.parse(`${'['.repeat(1000)}${inner}${']'.repeat(1000)}`) as JsonValue
      const wide = Array.from(
        { length: 25_000 },
        (): JsonValue => ({ role: 'user', content: [{ type: 'text' }] }),
      )
      const nested = JSON.parse(`${'{"content":['.repeat(1000)}1${']}'.repeat(1000)}`) as JsonValue
      const values: JsonValue[] = [
        deep('1'),
        { messages: deep('"x"') },
        { messages: [{ role: 'user', content: deep('"x"') }] },
        { messages: [{ role: 'user', content: [nested] }] },
        { messages: [{ role: 'user', content: [{ type: 'tool_result', content: deep('1') }] }] },
        { messages: wide },
        { choices: wide },
        wide,
      ]
      for (const side of SIDES) {
        for (const value of someInShort(values, 3)) {
          processor.match(side, value, HINTS)
          expect(processor.normalize(side, value, HINTS).issues.length).toBeLessThanOrEqual(100)
        }
      }
    })

    it('has a kebab-case name', () => expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/))
  },
)

it('lists every format once', () => {
  const names = builtInProcessors.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
})

it('gives keys like __proto__ no effect', () => {
  const value = JSON.parse(
    '{"messages":[{"role":"user","content":"hi","__proto__":{"polluted":true}}]}',
  ) as JsonValue
  for (const processor of builtInProcessors) processor.normalize('inputs', value, HINTS)
  expect(isObject({}) && 'polluted' in {}).toBe(false)
})

it('loads the documented example of a user-defined format', async () => {
  const file = new URL('../examples/processors/acme-chat.js', import.meta.url).href
  const own = (await import(file)) as { processors: readonly Processor[] }
  const [acme] = own.processors
  const inputs = { turns: [{ who: 'customer', said: 'Hi' }, { who: 'parrot', said: 'Hi' }, null] }
  expect(acme?.match('inputs', inputs, HINTS)).toBe(2)
  expect(acme?.match('inputs', 'Hi', HINTS)).toBe(0)
  const read = acme?.normalize('inputs', inputs, HINTS)
  expect(read?.messages.map(({ role }) => role)).toEqual(['user', 'user', 'user'])
  expect(read?.issues.map(({ path }) => path)).toEqual(['turns[1].who', 'turns[2].who'])
  expect(acme?.normalize('outputs', { reply: 'Hello', engine: 'acme-2' }, HINTS)).toEqual({
    messages: [{ role: 'assistant', content: [{ type: 'text', text: 'Hello' }] }],
    issues: [],
    model: 'acme-2',
  })
})
