import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../schema/json.ts'
import { chunkUsage, foldLangchainChunks } from './langchain-chunks.ts'

const chunk = (content: JsonValue, more: JsonObject = {}): JsonObject => ({
  lc: 1,
  type: 'constructor',
  id: ['langchain_core', 'messages', 'AIMessageChunk'],
  kwargs: { content, id: 'run-1', ...more },
})

describe('foldLangchainChunks', () => {
  it('joins the text of one message, and keeps other messages apart', () => {
    const tool = { type: 'tool', content: 't', tool_call_id: 'z' }
    const next = chunk('c', { id: 'run-2' })
    expect(foldLangchainChunks([chunk('a'), chunk('b'), next, tool])).toEqual([
      expect.objectContaining({ type: 'ai', content: [{ type: 'text', text: 'ab' }] }),
      next,
      tool,
    ])
    const dicts = [
      { type: 'AIMessageChunk', content: 'a' },
      { type: 'AIMessageChunk', content: 'b' },
    ]
    expect(foldLangchainChunks(dicts)).toMatchObject([{ content: [{ text: 'ab' }] }])
  })

  it('joins reasoning beside the content, and keeps the fields that only one chunk has', () => {
    const [said] = foldLangchainChunks([
      chunk('', { additional_kwargs: { reasoning_content: 'Let ' }, response_metadata: { model: 'm' } }),
      chunk('', { additional_kwargs: { reasoning_content: 'me' }, response_metadata: {} }),
      chunk('a', { additional_kwargs: {} }),
    ])
    expect(said).toMatchObject({
      content: [{ type: 'text', text: 'a' }],
      additional_kwargs: { reasoning_content: 'Let me' },
      response_metadata: { model: 'm' },
    })
  })

  it('joins blocks by their index, and tool calls from their pieces', () => {
    const [said, ...others] = foldLangchainChunks([
      chunk([{ type: 'text', text: 'He', index: 0 }]),
      chunk([{ type: 'text', text: 'y', index: 0 }]),
      chunk([{ type: 'tool_use', id: 't', name: 'f', input: {}, index: 1 }], {
        tool_call_chunks: [{ index: 1, id: 't', name: 'f', args: '' }],
      }),
      chunk([{ type: 'input_json_delta', index: 1 }], {
        tool_call_chunks: [{ index: 1, id: null, name: null, args: '{"a":' }],
        invalid_tool_calls: [{ args: '{"a":' }],
      }),
      chunk('', { tool_call_chunks: [{ index: 1, args: '1}' }] }),
    ])
    expect(others).toEqual([])
    expect(said).toMatchObject({
      content: [{ type: 'text', text: 'Hey', index: 0 }],
      tool_calls: [{ id: 't', name: 'f', args: { a: 1 } }],
      invalid_tool_calls: [],
    })
  })
})

describe('chunkUsage', () => {
  const usage = (input: number, output: number, more: JsonObject = {}): JsonObject => ({
    usage_metadata: { input_tokens: input, output_tokens: output, total_tokens: input + output, ...more },
  })

  it('adds what each chunk counts, wherever it is in the stream', () => {
    const details = { input_token_details: { cache_read: 3 } }
    const stream = [
      chunk('', usage(10, 0, details)),
      ...Array.from({ length: 30 }, () => chunk('a')),
      chunk('', usage(0, 7, { input_token_details: { cache_read: 0 } })),
    ]
    expect(chunkUsage(stream)).toEqual({
      input_tokens: 10,
      output_tokens: 7,
      total_tokens: 17,
      input_token_details: { cache_read: 3 },
    })
  })

  it('is none for whole messages, for several messages, and without counts', () => {
    expect(chunkUsage([{ type: 'ai', content: 'a', ...usage(1, 1) }])).toBeUndefined()
    expect(chunkUsage([chunk('a', usage(1, 1)), chunk('b', { id: 'run-2', ...usage(1, 1) })])).toBeUndefined()
    expect(chunkUsage([chunk('a'), chunk('b')])).toBeUndefined()
  })
})
