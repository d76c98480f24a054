import Anthropic from '@anthropic-ai/sdk'
import { createOpenAI } from '@ai-sdk/openai'
import { LegacyOpenTelemetry, OpenTelemetry } from '@ai-sdk/otel'
import { OpenAIInstrumentation as OpenInference } from '@arizeai/openinference-instrumentation-openai'
import { OpenAIInstrumentation as OpenLLMetry } from '@traceloop/instrumentation-openai'
import { generateText, isStepCount, jsonSchema, streamText, tool } from 'ai'
import { Client } from 'langsmith'
import { wrapAnthropic } from 'langsmith/wrappers/anthropic'
import { wrapOpenAI } from 'langsmith/wrappers/openai'
import type { TracerProvider } from '@opentelemetry/sdk-trace'
import OpenAI from 'openai'

/** The addresses for an application. */
export interface Surroundings {
  vendorUrl: string
  weirUrl: string
  key: string
  project: string
  /** Exports to the server. The caller of the client flushes it. */
  provider: TracerProvider
}

/**
 * Runs an application with one instrumentation, set up as in the instrumentation's documentation. Resolves when all of
 * its calls have been made.
 */
export interface JsClient {
  title: string
  packages: readonly string[]
  run(around: Surroundings): Promise<void>
}

const [GPT, CLAUDE, BROKEN] = ['gpt-4.1-mini', 'claude-sonnet-4-5', 'gpt-broken']
const RESULT = '18 degrees, sunny'
const PARAMETERS = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
}

const openAi = ({ vendorUrl }: Surroundings): OpenAI =>
  new OpenAI({ apiKey: 'none', baseURL: `${vendorUrl}/v1`, maxRetries: 0 })

async function refused(call: Promise<unknown>): Promise<void> {
  await call.then(
    () => Promise.reject(new Error('the vendor has not refused')),
    (error: unknown) => {
      if (!String(error).includes('broken')) throw error
    },
  )
}

/** Makes every kind of request to OpenAI's chat completions. */
async function chats(openai: OpenAI): Promise<void> {
  const hello: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: 'You are a helpful assistant.' },
    { role: 'user', content: 'Hi there' },
  ]
  const { completions } = openai.chat
  await completions.create({ model: GPT, messages: hello })
  const stream_options = { include_usage: true }
  for await (const _ of await completions.create({
    model: GPT,
    messages: hello,
    stream: true,
    stream_options,
  }));
  const tools = [
    { type: 'function' as const, function: { name: 'get_weather', parameters: { ...PARAMETERS } } },
  ]
  const asked: OpenAI.ChatCompletionMessageParam = { role: 'user', content: 'Weather in Paris?' }
  const { choices } = await completions.create({ model: GPT, messages: [asked], tools })
  const { message } = choices[0]!
  const tool_call_id = message.tool_calls![0]!.id
  const result: OpenAI.ChatCompletionMessageParam = { role: 'tool', tool_call_id, content: RESULT }
  await completions.create({ model: GPT, messages: [asked, message, result], tools })
  await refused(completions.create({ model: BROKEN, messages: hello }))
}

/** Makes every kind of request to Anthropic's messages. */
async function claude({ messages }: Anthropic): Promise<void> {
  const hello: Anthropic.MessageCreateParamsNonStreaming = {
    model: CLAUDE,
    max_tokens: 100,
    system: 'You are a helpful assistant.',
    messages: [{ role: 'user', content: 'Hi there' }],
  }
  await messages.create(hello)
  for await (const _ of await messages.create({ ...hello, stream: true }));
  const tools: Anthropic.Tool[] = [
    { name: 'get_weather', input_schema: { type: 'object', properties: { city: {} } } },
  ]
  const asked: Anthropic.MessageParam = { role: 'user', content: 'Weather in Paris?' }
  const { content } = await messages.create({ ...hello, messages: [asked], tools })
  const used = content.find((block) => block.type === 'tool_use')
  const result: Anthropic.ToolResultBlockParam = {
    type: 'tool_result',
    tool_use_id: used!.id,
    content: RESULT,
  }
  const answered: Anthropic.MessageParam[] = [
    asked,
    { role: 'assistant', content },
    { role: 'user', content: [result] },
  ]
  await messages.create({ ...hello, messages: answered, tools })
  await refused(messages.create({ ...hello, model: 'claude-broken' }))
}

/** Registers an instrumentation that patches OpenAI's client while it is enabled. */
async function patched(instrumentation: OpenLLMetry | OpenInference, around: Surroundings): Promise<void> {
  instrumentation.setTracerProvider(around.provider)
  instrumentation.manuallyInstrument(OpenAI)
  try {
    await chats(openAi(around))
  } finally {
    instrumentation.disable()
  }
}

async function vercel(
  Integration: typeof OpenTelemetry | typeof LegacyOpenTelemetry,
  { provider, vendorUrl }: Surroundings,
): Promise<void> {
  const openai = createOpenAI({ apiKey: 'none', baseURL: `${vendorUrl}/v1` })
  const integration = new Integration({ tracer: provider.getTracer('ai') })
  const settings = { telemetry: { integrations: [integration] }, maxRetries: 0 }
  const instructions = 'You are a helpful assistant.'
  await generateText({ ...settings, model: openai.chat(GPT), instructions, prompt: 'Hi there' })
  await streamText({ ...settings, model: openai.chat(GPT), prompt: 'Hi there' }).text
  const get_weather = tool({
    description: 'The weather of a city.',
    inputSchema: jsonSchema<{ city: string }>({ ...PARAMETERS }),
    execute: () => Promise.resolve(RESULT),
  })
  const stopWhen = isStepCount(2)
  const prompt = 'Weather in Paris?'
  await generateText({ ...settings, model: openai.chat(GPT), prompt, tools: { get_weather }, stopWhen })
  await refused(generateText({ ...settings, model: openai.chat(BROKEN), prompt: 'Hi there' }))
}

async function langsmith(around: Surroundings, work: (options: object) => Promise<void>): Promise<void> {
  const client = new Client({ apiUrl: around.weirUrl, apiKey: around.key })
  await work({ client, tracingEnabled: true, project_name: around.project })
  await client.awaitPendingTraceBatches()
}

export const JS_CLIENTS: readonly JsClient[] = [
  {
    title: 'OpenInference, OpenAI chat',
    packages: ['@arizeai/openinference-instrumentation-openai', 'openai'],
    run: (around) => patched(new OpenInference(), around),
  },
  {
    title: 'OpenLLMetry, OpenAI chat',
    packages: ['@traceloop/instrumentation-openai', 'openai'],
    run: (around) => patched(new OpenLLMetry({ exceptionLogger: console.error }), around),
  },
  {
    title: 'Vercel AI SDK, GenAI conventions',
    packages: ['ai', '@ai-sdk/otel'],
    run: (around) => vercel(OpenTelemetry, around),
  },
  {
    title: 'Vercel AI SDK, older spans',
    packages: ['ai', '@ai-sdk/otel'],
    run: (around) => vercel(LegacyOpenTelemetry, around),
  },
  {
    title: 'LangSmith, wrapOpenAI',
    packages: ['langsmith', 'openai'],
    run: (around) => langsmith(around, (options) => chats(wrapOpenAI(openAi(around), options))),
  },
  {
    title: 'LangSmith, wrapAnthropic',
    packages: ['langsmith', '@anthropic-ai/sdk'],
    run: (around) =>
      langsmith(around, (options) =>
        claude(
          wrapAnthropic(new Anthropic({ apiKey: 'none', baseURL: around.vendorUrl, maxRetries: 0 }), options),
        ),
      ),
  },
]
