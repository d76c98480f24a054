import { expect, it } from 'vitest'
import { messageKeys, toolInputSchema } from './input-schema.ts'

const LIST = { type: 'array', items: { oneOf: [{ $ref: '#/$defs/AIMessage' }] } }
const SCHEMA = {
  title: 'State',
  type: 'object',
  properties: {
    messages: LIST,
    either: { anyOf: [LIST, { $ref: '#/$defs/HumanMessage' }] },
    last: { $ref: '#/$defs/AIMessage' },
    marked: { langgraph_type: 'messages' },
  },
  $defs: { AIMessage: { type: 'object' } },
}

it('MCP-6: lists of messages are texts, a single message is what the graph takes', () => {
  expect(messageKeys(SCHEMA)).toEqual(['messages', 'either', 'marked'])
  const { properties, $defs } = toolInputSchema(SCHEMA)
  expect(properties).toMatchObject({
    messages: { type: 'string' },
    either: { type: 'string' },
    last: { $ref: '#/$defs/AIMessage' },
    marked: { type: 'string' },
  })
  expect($defs).toEqual(SCHEMA.$defs)
})

it('MCP-6: a graph without a usable schema takes any object', () => {
  for (const schema of [undefined, null, { type: 'string' }, []])
    expect(toolInputSchema(schema)).toEqual({ type: 'object' })
})
