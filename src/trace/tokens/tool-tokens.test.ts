import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../schema/json.ts'
import { readTools, toolsAsNamespace } from './tool-tokens.ts'

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const definition = { name: 'get_weather', description: 'Says the weather', parameters }

describe('readTools', () => {
  it.each([
    ['OpenAI chat', [{ type: 'function', function: definition }]],
    ['OpenAI Responses', [{ type: 'function', ...definition, strict: true }]],
    ['legacy functions', [definition]],
    ['one tool', definition],
    ['Anthropic', [{ name: 'get_weather', description: 'Says the weather', input_schema: parameters }]],
    ['Gemini', [{ functionDeclarations: [definition] }]],
    ['Gemini in Python', { function_declarations: [definition] }],
  ])('reads %s', (_, tools) => {
    expect(readTools(tools)).toEqual([definition])
  })

  it('omits tools without a name', () => {
    expect(readTools([null, 1, 'x', {}, [[]], { type: 'web_search' }, { function: {} }])).toEqual([])
    expect(readTools(undefined)).toEqual([])
    expect(readTools([{ name: 'x', parameters: 'none' }])).toEqual([
      { name: 'x', description: '', parameters: {} },
    ])
  })
})

describe('toolsAsNamespace', () => {
  it('writes types, comments and optional fields', () => {
    const properties = {
      place: {
        type: 'object',
        description: 'Where',
        properties: { lat: { type: 'number', description: 'North' } },
      },
      unit: { type: 'string', enum: ['c', 'f'] },
      days: { type: 'array', items: { type: 'integer' } },
      note: { type: ['string', 'null'] },
      mode: { anyOf: [{ type: 'boolean' }, {}] },
    }
    const tools = [
      { name: 'one', description: 'First', parameters: { properties, required: ['unit'] } },
      { name: 'two', description: '', parameters: {} },
    ]
    expect(toolsAsNamespace(tools)).toBe(`namespace functions {

// First
type one = (_: {
// Where
place?: {
  lat?: number,
},
unit: "c" | "f",
days?: number[],
note?: string | null,
mode?: boolean | any,
}) => any;

type two = () => any;

} // namespace functions`)
  })

  it.each(['properties', 'items', 'anyOf', 'type'])('handles %s nested without end', (key) => {
    let schema: unknown = { type: 'string' }
    for (let i = 0; i < 100_000; i++) {
      if (key === 'properties') schema = { type: 'object', properties: { a: schema } }
      else if (key === 'items') schema = { type: 'array', items: schema }
      else schema = { [key]: [schema] }
    }
    const parameters = { properties: { a: schema as JsonObject } }
    const text = toolsAsNamespace([{ name: 'deep', description: '', parameters }])
    expect(text).toContain('type deep = (_: {\na?: ')
    expect(text.length).toBeLessThan(10_000)
  })
})
