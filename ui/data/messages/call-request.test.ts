import { describe, expect, it } from 'vitest'
import type { Message } from '../../api/messages.ts'
import type { TraceRunRead as ReadRun } from '../../api/platform.gen.ts'
import { calledTools, offeredTools, parametersOf } from './call-request.ts'

const schema = { type: 'object', properties: { city: { type: 'string' } } }
const run = (inputs: object, invocation_params?: object): ReadRun =>
  ({ inputs, extra: { invocation_params } }) as unknown as ReadRun

describe('the tools offered with a model call', () => {
  it.each([
    ['OpenAI chat', { tools: [{ type: 'function', function: { name: 'weather', parameters: schema } }] }],
    ['OpenAI responses', { tools: [{ type: 'function', name: 'weather', parameters: schema }] }],
    ['Anthropic', { tools: [{ name: 'weather', input_schema: schema }] }],
    ['Gemini', { config: { tools: [{ functionDeclarations: [{ name: 'weather', parameters: schema }] }] } }],
    ['the AI SDK', { tools: { weather: { inputSchema: schema } } }],
    ['old functions', { functions: [{ name: 'weather', parameters: schema }] }],
  ])('are read from requests of %s', (_, inputs) => {
    expect(offeredTools(run(inputs))).toEqual([{ name: 'weather', description: '', schema }])
  })

  it('are read from the parameters of frameworks and spans, each once; tools of the vendor by their type', () => {
    const tools = [{ type: 'web_search' }, { name: 'weather' }, { name: 'weather', description: 'of a city' }]
    expect(offeredTools(run({ messages: [] }, { tools }))).toEqual([
      { name: 'web_search', description: '', schema: undefined },
      { name: 'weather', description: 'of a city', schema: undefined },
    ])
  })

  it('are none for what is no list of tools', () => {
    for (const tools of [null, 'all', [null, 3, {}], { a: 1 }.constructor])
      expect(offeredTools(run({ tools }))).toEqual([])
  })
})

it('the calls of tools are counted by name', () => {
  const call = { type: 'tool_call', name: 'weather', args: {} }
  const messages = [{ role: 'assistant', content: [call, call, { type: 'text', text: 'a' }] }] as Message[]
  expect([...calledTools(messages)]).toEqual([['weather', 2]])
})

it('parameters are what was sent besides messages and tools', () => {
  const inputs = { model: 'gpt-4.1', messages: [{}], tools: [{}], question: 'x'.repeat(300), temperature: 0 }
  expect(parametersOf(run(inputs, { max_tokens: 9, stop: null, model: 'gpt-4.1-mini' }))).toEqual([
    ['model', 'gpt-4.1-mini'],
    ['temperature', 0],
    ['max_tokens', 9],
  ])
  expect(parametersOf(run([['a', 1]]))).toEqual([])
})
