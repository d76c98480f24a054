import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../base/clock.ts'
import { AppError, type ErrorCode, toAppError } from '../base/errors.ts'
import { readEvents, type StreamEvent } from '../base/text/event-stream.ts'
import { isObject, type JsonObject, type JsonValue } from '../schema/json.ts'
import { parsedJson } from '../schema/raw-json.ts'
import type { ContentBlock, Message, PlaygroundRunCreate } from '../schema/types.gen.ts'
import { ModelAnswer } from './answer.ts'
import {
  type CallTrace,
  PLAYGROUND_PROJECT,
  type TraceCaller,
  type TraceRecorder,
  traceCall,
} from './call-trace.ts'
import { anthropic } from './providers/anthropic.ts'
import { google } from './providers/google.ts'
import { openai, openaiCompatible } from './providers/openai.ts'
import type { Delta, ModelCall, Provider, ProviderName, VendorRequest } from './providers/provider.ts'
import type { WorkspaceSecrets } from './secrets.ts'
import { hostOf, parseBaseUrl, type VendorCaller } from './vendor-call.ts'

/** Every provider, in the order in which they are listed. */
export const PROVIDERS: readonly Provider[] = [openai, anthropic, google, openaiCompatible]

/** The events of a call, in the order in which they are sent. */
export type PlaygroundEvent =
  | { event: 'run'; data: { run_id: string; trace_id: string; project: string; start_time: string } }
  | { event: 'delta'; data: Delta }
  | { event: 'usage'; data: JsonObject }
  | { event: 'error'; data: { code: ErrorCode; detail: string; status?: number } }
  | {
      event: 'end'
      data: {
        run_id: string
        message: Message
        finish_reason: string | null
        model: string
        duration_ms: number
        first_token_ms: number | null
      }
    }

/** Calls models for people, and stores each call as a trace. */
export interface Playground {
  /**
   * Checks the call and looks up its secret; `events` makes the call. Aborting `signal` ends it; the trace of an
   * aborted call has the part of the answer that arrived. @throws AppError invalid_request, secret_missing,
   * host_not_allowed, secrets_unreadable
   */
  prepare(caller: TraceCaller, body: PlaygroundRunCreate): Promise<PreparedCall>
}

export interface PreparedCall {
  events(signal: AbortSignal): AsyncGenerator<PlaygroundEvent>
}

export interface PlaygroundParts {
  secrets: Pick<WorkspaceSecrets, 'valueFor'>
  vendor: VendorCaller
  traces: TraceRecorder
  clock: Clock
  /** Time limit of one call; default 10 minutes. */
  max_ms?: number
}

const MAX_MS = 600_000
/** Maximum UTF-16 units of one event of a vendor. */
const MAX_EVENT = 1 << 20

export function createPlayground(parts: PlaygroundParts): Playground {
  return {
    async prepare(caller, body) {
      const provider = providerOf(body.provider)
      const base_url = parseBaseUrl(body.base_url ?? provider.base_url ?? missingAddress())
      const key = body.secret ?? provider.secret
      const secret = await parts.secrets.valueFor(caller.workspace_id, key, hostOf(base_url))
      const call = toCall(body)
      const request = provider.toRequest(call, secret)
      const ls_provider = body.provider_name ?? nameOf(provider, base_url)
      const { max_ms = MAX_MS } = parts
      const traced = { call, ls_provider, source_run_id: body.source_run_id ?? undefined, max_ms }
      const target = { ...request, base_url, secret }
      return {
        events: (signal) => {
          const trace = traceCall(parts.traces, caller, traced, parts.clock)
          return runCall({ ...parts, max_ms, provider, target, trace, model: call.model }, signal)
        },
      }
    },
  }
}

function providerOf(name: ProviderName): Provider {
  const found = PROVIDERS.find((provider) => provider.name === name)
  if (found === undefined) throw new AppError('internal', { message: `There is no provider ${name}.` })
  return found
}

function missingAddress(): never {
  const msg = 'is required for openai-compatible: the address of the API, such as http://127.0.0.1:11434/v1'
  throw new AppError('invalid_request', { details: [{ loc: ['body', 'base_url'], msg, type: 'missing' }] })
}

/** The provider in the trace. A server that is only compatible with OpenAI's API has other prices than OpenAI. */
function nameOf({ name }: Provider, base_url: URL): string {
  return name === 'openai-compatible' ? hostOf(base_url) : name
}

function toCall({
  model,
  messages,
  tools,
  tool_choice,
  output_schema,
  parameters,
}: PlaygroundRunCreate): ModelCall {
  const { temperature, top_p, max_tokens, stop, seed, extra } = parameters ?? {}
  return {
    model,
    messages: messages.map(withParsedBlocks),
    tools: (tools ?? []).map(({ name, description, parameters: schema }) => ({
      name,
      description: description ?? undefined,
      parameters: (schema ?? { type: 'object', properties: {} }) as JsonObject,
    })),
    tool_choice: tool_choice ?? 'auto',
    output_schema: (output_schema ?? undefined) as JsonObject | undefined,
    parameters: {
      temperature: temperature ?? undefined,
      top_p: top_p ?? undefined,
      max_tokens: max_tokens ?? undefined,
      stop: stop ?? undefined,
      seed: seed ?? undefined,
      extra: (extra ?? {}) as JsonObject,
    },
  }
}

/** Fields of blocks that are still unparsed JSON if the request had a large body. */
const LARGE_FIELDS = ['text', 'base64', 'url'] as const

function withParsedBlocks(message: Message): Message {
  return { ...message, content: message.content.map(parsedBlock) }
}

function parsedBlock(block: ContentBlock): ContentBlock {
  const fields = block as unknown as JsonObject
  const parsed = LARGE_FIELDS.flatMap((name) => {
    const value = fields[name]
    return value === undefined ? [] : [[name, parsedJson(value)] as const]
  })
  return { ...block, ...Object.fromEntries(parsed) }
}

interface RunningCall extends Pick<PlaygroundParts, 'vendor'> {
  max_ms: number
  provider: Provider
  target: VendorRequest & { base_url: URL; secret: string }
  trace: CallTrace
  model: string
}

/** The error of a call whose caller has disconnected. */
function cancelled(): AppError {
  return new AppError('provider_failed', { message: 'The call was cancelled.' })
}

async function* runCall(running: RunningCall, left: AbortSignal): AsyncGenerator<PlaygroundEvent> {
  const { trace } = running
  const { run_id, start_time } = trace
  const answer = new ModelAnswer()
  let failure: AppError | undefined = cancelled()
  try {
    yield { event: 'run', data: { run_id, trace_id: run_id, project: PLAYGROUND_PROJECT, start_time } }
    yield* answerEvents(running, answer, left)
    failure = undefined
  } catch (error) {
    failure = left.aborted ? cancelled() : toAppError(error)
    yield { event: 'error', data: problemOf(failure) }
  } finally {
    // This also runs if the reader stops reading the events.
    trace.end(answer, failure?.message)
  }
  const { duration_ms, first_token_ms } = trace
  const { message, finish_reason = null, model = running.model } = answer
  yield { event: 'end', data: { run_id, message, finish_reason, model, duration_ms, first_token_ms } }
}

async function* answerEvents(
  { provider, target, trace, vendor, max_ms }: RunningCall,
  answer: ModelAnswer,
  left: AbortSignal,
): AsyncGenerator<PlaygroundEvent> {
  const limit = new AbortController()
  const signal = AbortSignal.any([left, limit.signal])
  const timer = delay(max_ms, undefined, { ref: false, signal }).then(
    () => limit.abort(),
    () => undefined,
  )
  try {
    for await (const { data } of boundedEvents(await vendor.call(target, signal))) {
      const value = parseData(data)
      if (value === undefined) continue
      const read = provider.readEvent(value)
      answer.add(read)
      if (answer.hasBegun) trace.began()
      for (const delta of read.deltas ?? []) yield { event: 'delta', data: delta }
      if (read.error !== undefined)
        throw new AppError('provider_failed', { message: `The provider sent an error: ${read.error}` })
    }
  } catch (error) {
    if (limit.signal.aborted)
      throw new AppError('provider_failed', { message: `The call took longer than ${max_ms / 1000} s.` })
    throw error
  } finally {
    limit.abort()
    await timer
  }
  const usage = answer.usage_metadata
  if (usage !== undefined) yield { event: 'usage', data: usage }
}

/** @throws AppError provider_failed for an event that is too long: each is parsed on the main thread */
async function* boundedEvents(answer: AsyncIterable<Uint8Array>): AsyncIterable<StreamEvent> {
  try {
    yield* readEvents(answer, MAX_EVENT)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new AppError('provider_failed', { message: 'The provider sent an event of more than 1 MiB.' })
  }
}

/** Parses the data of an event; undefined for OpenAI's `[DONE]`. @throws AppError provider_failed for invalid JSON */
function parseData(data: string): JsonObject | undefined {
  if (data === '[DONE]') return undefined
  try {
    const value = JSON.parse(data) as JsonValue
    return isObject(value) ? value : undefined
  } catch (error) {
    throw new AppError('provider_failed', {
      message: 'The provider sent an event that is no JSON.',
      cause: error,
    })
  }
}

function problemOf({ code, message, details }: AppError): {
  code: ErrorCode
  detail: string
  status?: number
} {
  const status = isObject(details) && typeof details['status'] === 'number' ? details['status'] : undefined
  return { code, detail: message, ...(status !== undefined && { status }) }
}
