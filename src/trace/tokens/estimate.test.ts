import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Message } from '../../schema/types.gen.ts'
import {
  type EstimateContext,
  estimateInputTokens,
  estimateOutputTokens,
  estimateTextTokens,
} from './estimate.ts'
import { createTokenizer } from './tokenizer.ts'

const tokenizer = createTokenizer()

function says(role: Message['role'], text: string, name?: string): Message {
  return { role, content: [{ type: 'text', text }], ...(name === undefined ? {} : { name }) }
}

function calls(name: string, args: Record<string, unknown>): Message {
  return { role: 'assistant', content: [{ type: 'tool_call', id: 'call_1', name, args }] }
}

function inputTokens(messages: Message[], context: EstimateContext): number {
  return estimateInputTokens(messages, context, tokenizer).tokens
}

function outputTokens(messages: Message[], model?: string): number {
  return estimateOutputTokens(messages, { model }, tokenizer).tokens
}

const SYSTEM = says('system', 'You are a helpful assistant.')

describe('OpenAI chat without tools', () => {
  const greeting = [SYSTEM, says('user', 'Hi there')]
  const booking = [SYSTEM, says('user', "I'd like to book a table for two.")]
  // The conversation in OpenAI's cookbook about counting, with the counts that its API returned.
  const jargon = [
    says(
      'system',
      'You are a helpful, pattern-following assistant that translates corporate jargon into plain English.',
    ),
    says('system', 'New synergies will help drive top-line growth.', 'example_user'),
    says('system', 'Things working well together will increase revenue.', 'example_assistant'),
    says(
      'system',
      "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage.",
      'example_user',
    ),
    says('system', "Let's talk later when we're less busy about how to do better.", 'example_assistant'),
    says('user', "This late pivot means we don't have time to boil the ocean for the client deliverable."),
  ]

  it.each([
    ['gpt-4o', greeting, 19],
    ['gpt-4.1-mini', booking, 26],
    ['gpt-3.5-turbo', booking, 27],
    ['gpt-4-0613', jargon, 129],
    ['gpt-4o', jargon, 124],
    [undefined, booking, 26],
    ['my_model', greeting, 19],
  ])('%s', (model, messages, tokens) => {
    expect(inputTokens(messages, { model })).toBe(tokens)
  })

  it.each([
    ['Hello! How can I help you today?', 9],
    ['Sure, what time would you like to book the table for?', 13],
    ['Hello, world', 3],
  ])('answers %j', (text, tokens) => {
    expect(outputTokens([says('assistant', text)], 'gpt-4.1-mini')).toBe(tokens)
  })
})

describe('OpenAI tools', () => {
  const weather = {
    name: 'get_current_weather',
    description: 'Get the current weather in a given location',
    parameters: {
      type: 'object',
      properties: {
        location: { type: 'string', description: 'The city and state, e.g. San Francisco, CA' },
        unit: {
          type: 'string',
          description: 'The unit of temperature to return',
          enum: ['celsius', 'fahrenheit'],
        },
      },
      required: ['location'],
    },
  }
  const asked = [
    says('system', 'You are a helpful assistant that can answer to questions about the weather.'),
    says('user', "What's the weather like in San Francisco?"),
  ]

  // The example of OpenAI's cookbook, with the counts that its API returned.
  it.each([
    ['gpt-3.5-turbo', 105],
    ['gpt-4', 105],
    ['gpt-4o', 101],
    ['gpt-4o-mini', 101],
  ])('are counted as %s sees them', (model, tokens) => {
    expect(inputTokens(asked, { model, tools: [{ type: 'function', function: weather }] })).toBe(tokens)
  })

  it('count nested types', () => {
    const parameters = {
      type: 'object',
      properties: {
        foo: {
          type: 'object',
          properties: { bar: { type: 'string', enum: ['a', 'b', 'c'] }, baz: { type: 'boolean' } },
        },
      },
    }
    const tools = [{ name: 'bing_bong', description: 'Do a bing bong', parameters }]
    expect(inputTokens([says('user', 'hello')], { model: 'gpt-3.5-turbo', tools })).toBe(68)
  })

  it('count calls and their results', () => {
    const messages: Message[] = [
      says('user', 'How much is 2 plus 2?'),
      calls('calculator', { a: 2, b: 2 }),
      { ...says('tool', '4', 'calculator'), tool_call_id: 'call_1' },
    ]
    expect(inputTokens(messages, { model: 'gpt-3.5-turbo' })).toBe(40)
  })

  it('count the generated arguments of a call', () => {
    expect(outputTokens([calls('get_current_weather', { location: 'Boston, MA' })], 'gpt-4o')).toBe(14)
  })
})

describe('other vendors', () => {
  const hello = [says('system', 'You are a scientist'), says('user', 'Hello, Claude')]

  it('is close to the documented counts of Anthropic', () => {
    expect(Math.abs(inputTokens(hello, { model: 'claude-sonnet-4-5' }) - 14)).toBeLessThanOrEqual(1)
    const schema = {
      type: 'object',
      properties: { location: { type: 'string', description: 'The city and state, e.g. San Francisco, CA' } },
      required: ['location'],
    }
    const tools = [
      {
        name: 'get_weather',
        description: 'Get the current weather in a given location',
        input_schema: schema,
      },
    ]
    const asked = [says('user', "What's the weather like in San Francisco?")]
    expect(Math.abs(inputTokens(asked, { model: 'claude-sonnet-4-5', tools }) - 403)).toBeLessThanOrEqual(4)
    const older = inputTokens(asked, { model: 'claude-3-haiku-20240307', tools })
    expect(inputTokens(asked, { model: 'claude-3-opus-20240229', tools }) - older).toBe(530 - 264)
  })

  it('adds nothing around the text for Gemini and for completion models', () => {
    expect(inputTokens(hello, { model: 'gemini-2.0-flash' })).toBe(7)
    expect(inputTokens([says('user', 'Hello, world')], { model: 'gpt-3.5-turbo-instruct' })).toBe(3)
  })
})

describe('media', () => {
  const photo = randomBytes(3000).toString('base64')

  it('is never counted', () => {
    const text = says('user', 'Hi there')
    const media: Message = {
      role: 'user',
      content: [
        ...text.content,
        { type: 'image', base64: photo, mime_type: 'image/png' },
        { type: 'file', url: 'https://example.com/a.pdf' },
        { type: 'audio', base64: photo },
        { type: 'video', id: 'film-1' },
      ],
    }
    const plain = estimateInputTokens([text], {}, tokenizer)
    expect(estimateInputTokens([media], {}, tokenizer)).toEqual(plain)
  })

  it('is left out of texts, arguments and results, with an issue', () => {
    const url = `data:image/png;base64,${photo}`
    const without = estimateInputTokens([says('user', 'see  there')], {}, tokenizer)
    const withUrl = estimateInputTokens([says('user', `see ${url} there`)], {}, tokenizer)
    expect(withUrl).toEqual({ ...without, sampled: true })
    expect(outputTokens([calls('show', { url })])).toBe(outputTokens([calls('show', { url: '' })]))
    const result: Message = {
      role: 'assistant',
      content: [{ type: 'server_tool_result', tool_call_id: 'a', status: 'success', output: { photo } }],
    }
    expect(estimateOutputTokens([result], {}, tokenizer)).toMatchObject({ sampled: true })
    expect(outputTokens([result])).toBeLessThan(10)
  })
})

describe('reasoning', () => {
  const thought: Message = { role: 'assistant', content: [{ type: 'reasoning', text: 'Let me think.' }] }

  it('counts where it was generated, not when it is sent again', () => {
    expect(outputTokens([thought])).toBe(4)
    const asked = says('user', 'Hi there')
    const recalled: Message[] = [
      asked,
      thought,
      { role: 'reasoning', content: [{ type: 'text', text: 'Hm.' }] },
    ]
    expect(inputTokens(recalled, {})).toBe(inputTokens([asked], {}))
  })
})

describe('edges', () => {
  it('is 0 for empty sides', () => {
    expect(estimateInputTokens([], {}, tokenizer)).toEqual({
      tokens: 0,
      encoding: 'o200k_base',
      sampled: false,
    })
    expect(estimateOutputTokens([], { model: 'gpt-4' }, tokenizer)).toEqual({
      tokens: 0,
      encoding: 'cl100k_base',
      sampled: false,
    })
    expect(inputTokens([{ role: 'user', content: [] }], {})).toBe(7)
  })

  it('estimates a text of unknown format without overhead', () => {
    expect(estimateTextTokens('Hello, world', undefined, undefined, tokenizer)).toEqual({
      tokens: 3,
      encoding: 'o200k_base',
      sampled: false,
    })
  })

  it('shares one budget between the sides', () => {
    const small = createTokenizer({ maxChars: 20_000 })
    const long = says('user', 'many words here '.repeat(1000))
    const budget = small.budget()
    expect(estimateInputTokens([long], { budget }, small).sampled).toBe(false)
    expect(estimateOutputTokens([long], { budget }, small).sampled).toBe(true)
    expect(estimateOutputTokens([long], {}, small).sampled).toBe(false)
  })

  it('handles arguments that are nested without end', () => {
    let args: Record<string, unknown> = {}
    for (let i = 0; i < 100_000; i++) args = { a: args }
    expect(outputTokens([calls('deep', args)])).toBeGreaterThan(0)
  })
})
