import { expect, it } from 'vitest'
import { toolResult } from './run-result.ts'

const SCHEMA = { type: 'object', properties: { answer: { type: 'string' } } }

it('MCP-7: output has the channels of the output schema only', () => {
  const { content, structuredContent } = toolResult({ question: 'secret', answer: 'yes' }, SCHEMA)
  expect(structuredContent).toEqual({ answer: 'yes' })
  expect(content).toEqual([{ type: 'text', text: '{"answer":"yes"}' }])
})

it('MCP-7: messages that are no output are not the answer', () => {
  const messages = [{ type: 'ai', content: 'a draft' }]
  expect(toolResult({ messages, answer: 'yes' }, SCHEMA).structuredContent).toEqual({ answer: 'yes' })
})

it('MCP-7: an empty list of messages is no answer: the output is JSON', () => {
  const output = { messages: [], answer: 'yes' }
  expect(toolResult(output)).toEqual({
    content: [{ type: 'text', text: JSON.stringify(output) }],
    structuredContent: output,
  })
  expect(toolResult({ messages: [] }).content).toEqual([{ type: 'text', text: '{"messages":[]}' }])
})

it('MCP-7: a failed run is an error, whatever the output schema names', () => {
  const failed = { __error__: { error: 'QuotaError', message: 'no more' } }
  expect(toolResult(failed, SCHEMA)).toEqual({
    content: [{ type: 'text', text: 'QuotaError: no more' }],
    isError: true,
  })
})

it.each([
  ['Python', { type: 'image', base64: 'AAAA', mime_type: 'image/webp' }],
  ['JavaScript', { type: 'image', data: 'AAAA', mimeType: 'image/webp' }],
  ['Anthropic', { type: 'image', source: { type: 'base64', media_type: 'image/webp', data: 'AAAA' } }],
  ['OpenAI', { type: 'image_url', image_url: { url: 'data:image/webp;base64,AAAA' } }],
])('MCP-7: an image in the form of %s is content', (_, block) => {
  const { content } = toolResult({ messages: [{ type: 'ai', content: [block] }] })
  expect(content[1]).toEqual({ type: 'image', data: 'AAAA', mimeType: 'image/webp' })
})

it('MCP-7: audio in the form of OpenAI is content', () => {
  const block = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } }
  const { content } = toolResult({ messages: [{ type: 'ai', content: [block] }] })
  expect(content[1]).toEqual({ type: 'audio', data: 'AAAA', mimeType: 'audio/mp3' })
})
