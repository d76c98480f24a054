import type { JsonObject, JsonValue } from '../../schema/json.ts'
import type { Message, PlaygroundRunCreate } from '../../schema/types.gen.ts'

export type ProviderName = PlaygroundRunCreate['provider']

/**
 * The calls that a model may make: `auto` any number, `none` no call, `required` at least one, `name` one of the
 * named tool.
 */
export type ToolChoice = 'auto' | 'none' | 'required' | { name: string }

/** One call of a model, in the form that is common to all providers. */
export interface ModelCall {
  model: string
  messages: readonly Message[]
  tools: readonly OfferedTool[]
  tool_choice: ToolChoice
  /** JSON Schema that the answer must fit. */
  output_schema: JsonObject | undefined
  parameters: CallParameters
}

/** A tool that the model may call; the playground does not execute it. */
export interface OfferedTool {
  name: string
  description: string | undefined
  /** JSON Schema of the arguments. */
  parameters: JsonObject
}

export interface CallParameters {
  temperature: number | undefined
  top_p: number | undefined
  max_tokens: number | undefined
  stop: readonly string[] | undefined
  seed: number | undefined
  /** Further fields of the vendor's request. */
  extra: JsonObject
}

export interface VendorRequest {
  /** Path after the base URL, with its query: `/chat/completions`. */
  path: string
  headers: Readonly<Record<string, string>>
  body: JsonObject
}

/** A part of an answer. */
export type Delta =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  /**
   * A piece of a tool call. The first piece of an `index` has the name; `args` is a piece of JSON text. With the index
   * NEW_CALL, it is a complete call.
   */
  | { type: 'tool_call'; index: number; id?: string; name?: string; args?: string }

/** Index of a call that is complete in one event. */
export const NEW_CALL = -1

/** The content of one event of the vendor's stream. */
export interface ReadEvent {
  deltas?: readonly Delta[]
  /** Fields of the vendor's own usage object; later ones replace earlier ones. */
  usage?: JsonObject
  finish_reason?: string
  /** Name of the model as the vendor returns it. */
  model?: string
  /** Id of the answer. */
  id?: string
  /** An error that the vendor reports within its stream. */
  error?: string
}

/** The form of requests and answers of one kind of API. Pure. */
export interface Provider {
  name: ProviderName
  /** Name of the workspace secret that is sent. */
  secret: string
  /** Undefined if each call names a URL. */
  base_url: string | undefined
  /** @throws AppError invalid_request for messages that this API cannot express */
  toRequest(call: ModelCall, secret: string): VendorRequest
  readEvent(data: JsonObject): ReadEvent
}

/** Merges the fields of the call over the further fields that a user typed; undefined fields are ignored. */
export function withExtra(
  extra: JsonObject,
  fields: Readonly<Record<string, JsonValue | undefined>>,
): JsonObject {
  return { ...extra, ...sentFields(fields) }
}

/** The object without its undefined fields. */
export function sentFields(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
