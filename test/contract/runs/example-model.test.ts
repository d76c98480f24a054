import { HumanMessage } from '@langchain/core/messages'
import { expect, it } from 'vitest'
import { createChatModel } from '../../../examples/graphs/chat-model.ts'

const TIME = [new HumanMessage('what time is it?')]

it('the model of the example answers the same with and without streaming: text, tool calls and usage', async () => {
  const model = createChatModel({})
  const hello = await model.invoke([new HumanMessage('hello there')])
  expect(hello.text).toBe('You said: hello there')
  expect(hello.usage_metadata).toMatchObject({ input_tokens: 2, output_tokens: 4, total_tokens: 6 })
  const call = await model.invoke(TIME)
  expect(call.tool_calls).toMatchObject([{ name: 'clock', args: {}, type: 'tool_call' }])
  const chunks = []
  for await (const { tool_call_chunks = [] } of await model.stream(TIME)) chunks.push(...tool_call_chunks)
  expect(chunks).toMatchObject([{ name: 'clock' }])
})
