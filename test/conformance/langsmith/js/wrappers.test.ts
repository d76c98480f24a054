import Anthropic from '@anthropic-ai/sdk'
import type { Client } from 'langsmith'
import { traceable } from 'langsmith/traceable'
import { wrapAnthropic } from 'langsmith/wrappers/anthropic'
import { wrapOpenAI } from 'langsmith/wrappers/openai'
import OpenAI from 'openai'
import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../../../src/base/ids.ts'
import { eventually } from '../../../support/eventually.ts'
import {
  BROKEN_MODEL,
  REPLY,
  WEATHER_CALL,
  WEATHER_REPLY,
} from '../../../support/servers/vendors/fake-vendor.ts'
import {
  ALL_OK,
  text,
  expectFirstToken,
  HELLO,
  WEATHER_TOOLS,
  WEATHER_BLOCK,
  WEATHER_ROUNDS,
  weatherCalls,
} from '../../traces/vendor-calls.ts'
import { makeClient, readEnded, useClientSetup } from './client-setup.ts'
import type { ReadTraceRun } from '../../traces/corpus/facts.ts'
import { firstInShort, inLong } from '../../../support/length.ts'

const setup = useClientSetup()
const PROJECT = 'wrappers'
let client: Client

beforeAll(() => {
  client = makeClient(setup())
})

/**
 * Runs `call` inside a traced function. Returns the `count` llm TraceRuns below that function, in the order of their
 * start.
 */
async function tracedCalls(call: () => Promise<unknown>, count = 1): Promise<ReadTraceRun[]> {
  const id = newUuid()
  const config = { id, name: 'caller', client, tracingEnabled: true, project_name: PROJECT }
  await traceable(call, config)()
  await readEnded(client, id)
  return await eventually(async () => {
    const { child_runs = [] } = await client.readRun(id, { loadChildRuns: true })
    expect(child_runs).toHaveLength(count)
    return await Promise.all(child_runs.map((child) => readEnded(client, child.id)))
  })
}

describe('wrapOpenAI', () => {
  const messages = HELLO
  const counted = {
    usage_metadata: {
      input_tokens: 25,
      output_tokens: 9,
      total_tokens: 34,
      input_token_details: { cache_read: 10 },
    },
    usage_source: { input: 'client', output: 'client' },
    checks: ALL_OK,
  }
  const chat = {
    provider: 'openai',
    model: 'gpt-4.1-mini',
    model_source: 'metadata.ls_model_name',
    input_format: 'openai-chat',
    output_format: 'openai-chat',
    messages: {
      input: [
        { role: 'system', content: text('You are a helpful assistant.') },
        { role: 'user', content: text('Hi there') },
      ],
      output: [{ role: 'assistant', content: text(REPLY) }],
    },
  }
  let openai: OpenAI

  beforeAll(() => {
    const plain = new OpenAI({ apiKey: 'none', baseURL: `${setup().vendor.url}/v1`, maxRetries: 0 })
    openai = wrapOpenAI(plain, { client, tracingEnabled: true, project_name: PROJECT })
  })

  it('one answer', async () => {
    const [llm] = await tracedCalls(() => openai.chat.completions.create({ model: 'gpt-4.1-mini', messages }))
    expect(llm).toMatchObject({
      name: 'ChatOpenAI',
      run_type: 'llm',
      status: 'success',
      first_token_time: null,
      prompt_tokens: 25,
      completion_tokens: 9,
      total_tokens: 34,
      llm: { ...chat, ...counted, time_to_first_token_ms: null },
    })
  })

  it('a stream with usage', async () => {
    const [llm] = await tracedCalls(async () => {
      const stream = await openai.chat.completions.create({
        model: 'gpt-4.1-mini',
        messages,
        stream: true,
        stream_options: { include_usage: true },
      })
      let said = ''
      for await (const chunk of stream) said += chunk.choices[0]?.delta.content ?? ''
      expect(said).toBe(REPLY)
    })
    expect(llm).toMatchObject({ status: 'success', llm: { ...chat, ...counted } })
    expectFirstToken(llm!)
  })

  inLong(() => {
    it('a stream without usage is estimated', async () => {
      const [llm] = await tracedCalls(async () => {
        const stream = await openai.chat.completions.create({ model: 'gpt-4.1-mini', messages, stream: true })
        for await (const _ of stream);
      })
      expect(llm).toMatchObject({
        llm: {
          ...chat,
          usage_metadata: { input_tokens: 19, output_tokens: 9, total_tokens: 28 },
          usage_source: { input: 'estimate', output: 'estimate' },
          checks: { ...ALL_OK, usage: { ok: false } },
        },
      })
      expectFirstToken(llm!)
    })
  })

  it.each(firstInShort([true, false]))(
    'tools, and the answer to their result (stream: %s)',
    async (stream) => {
      const llms = await tracedCalls(async () => {
        const options = {
          model: 'gpt-4.1',
          tools: WEATHER_TOOLS,
          ...(stream && { stream_options: { include_usage: true } }),
        }
        for (const round of WEATHER_ROUNDS) {
          const answer = await openai.chat.completions.create({ ...options, messages: round, stream })
          if (Symbol.asyncIterator in answer) for await (const _ of answer);
        }
      }, 2)
      expect(llms.map(({ llm }) => llm)).toMatchObject(weatherCalls(ALL_OK))
      expect(llms[0]?.llm).toMatchObject({
        model: 'gpt-4.1',
        usage_metadata: { input_tokens: 82, output_tokens: 17, total_tokens: 99 },
      })
      const { totals } = await setup().weir.json<{ totals: object }>(`/api/v1/traces/${llms[0]!.trace_id}`)
      expect(totals).toMatchObject({
        prompt_tokens: 107,
        completion_tokens: 26,
        total_tokens: 133,
        llm_runs: 2,
      })
    },
  )

  inLong(() => {
    it('an error of the vendor', async () => {
      const [llm] = await tracedCalls(async () => {
        const asking = openai.chat.completions.create({ model: BROKEN_MODEL, messages })
        await expect(asking).rejects.toThrow('this model is broken')
      })
      expect(llm).toMatchObject({
        status: 'error',
        outputs: null,
        llm: {
          provider: 'openai',
          model: BROKEN_MODEL,
          usage_metadata: { input_tokens: null, output_tokens: null },
        },
      })
      expect(llm!.error).toContain('this model is broken')
    })
  })
})

describe('wrapAnthropic', () => {
  const model = 'claude-opus-4-1-20250805'
  const tools: Anthropic.Tool[] = [
    { name: 'get_weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } },
  ]
  const params: Anthropic.MessageCreateParamsNonStreaming = {
    model,
    max_tokens: 100,
    system: 'You are a helpful assistant.',
    messages: [{ role: 'user', content: 'Hi there' }],
  }
  const expected = {
    provider: 'anthropic',
    model,
    input_format: 'anthropic-messages',
    output_format: 'anthropic-messages',
    usage_source: { input: 'client', output: 'client' },
    // The vendor's input tokens exclude the cache tokens: 60 + 2000 + 500.
    usage_metadata: {
      input_tokens: 2560,
      output_tokens: 75,
      total_tokens: 2635,
      input_token_details: {
        cache_read: 2000,
        ephemeral_5m_input_tokens: 300,
        ephemeral_1h_input_tokens: 200,
      },
    },
    checks: ALL_OK,
  }
  const inputRoles = ({ llm }: ReadTraceRun) => llm!.messages!.input.map(({ role }) => role)
  let anthropic: Anthropic

  beforeAll(() => {
    const plain = new Anthropic({ apiKey: 'none', baseURL: setup().vendor.url, maxRetries: 0 })
    anthropic = wrapAnthropic(plain, { client, tracingEnabled: true, project_name: PROJECT })
  })

  it('one answer', async () => {
    const [llm] = await tracedCalls(() => anthropic.messages.create(params))
    expect(llm).toMatchObject({
      name: 'ChatAnthropic',
      run_type: 'llm',
      first_token_time: null,
      llm: { ...expected, messages: { output: [{ role: 'assistant', content: text(REPLY) }] } },
    })
    expect(inputRoles(llm!)).toEqual(['system', 'user'])
  })

  inLong(() => {
    it('a stream with create', async () => {
      const [llm] = await tracedCalls(async () => {
        for await (const _ of await anthropic.messages.create({ ...params, stream: true }));
      })
      expect(llm).toMatchObject({
        llm: { ...expected, messages: { output: [{ role: 'assistant', content: text(REPLY) }] } },
      })
      expectFirstToken(llm!)
    })

    it('a stream with its helper, and tools', async () => {
      const [llm] = await tracedCalls(async () => {
        const message = await anthropic.messages.stream({ ...params, tools }).finalMessage()
        expect(message.stop_reason).toBe('tool_use')
      })
      expect(llm).toMatchObject({
        llm: { ...expected, messages: { output: [{ role: 'assistant', content: [WEATHER_BLOCK] }] } },
      })
      expectFirstToken(llm!)
    })

    it('the answer to the result of a tool', async () => {
      const { id, name, args } = WEATHER_CALL
      const [llm] = await tracedCalls(() =>
        anthropic.messages.create({
          ...params,
          tools,
          messages: [
            { role: 'user', content: 'Weather in Paris?' },
            { role: 'assistant', content: [{ type: 'tool_use', id, name, input: args }] },
            { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: '18 degrees' }] },
          ],
        }),
      )
      expect(inputRoles(llm!)).toEqual(['system', 'user', 'assistant', 'tool'])
      expect(llm!.llm!.messages).toMatchObject({
        input: [{}, {}, { content: [WEATHER_BLOCK] }, { tool_call_id: id, content: text('18 degrees') }],
        output: [{ role: 'assistant', content: text(WEATHER_REPLY) }],
      })
      expect(llm!.llm!.checks).toEqual(ALL_OK)
    })
  })
})
