/** A client's request to the fake vendor. */
export interface Asked {
  model: string
  stream: boolean
  /** The request offers tools, and its last message is not a tool's result. */
  wantsTool: boolean
  /** The last message of the request is a tool's result. */
  hasResult: boolean
}

/** One call with the vendor's bill: what the client's trace should contain. */
export interface VendorCall {
  provider: 'openai' | 'anthropic' | 'google' | 'ollama'
  model: string
  streamed: boolean
  refused: boolean
  /** All input tokens, including those of the cache. */
  input: number
  cache_read: number
  cache_creation: number
  /** All output tokens, reasoning included. */
  output: number
  reasoning: number
  /** The text of the answer; undefined for a tool call. */
  text: string | undefined
}

/** A model's request for a tool. */
export const TOOL_CALL = { name: 'get_weather', args: { city: 'Paris' } }
export const REPLY = 'Hello! How can I help you today?'
export const WEATHER_REPLY = 'It is 18 degrees and sunny in Paris.'
/** The vendor refuses a request with 400 if the model's name contains this text. */
export const BROKEN = 'broken'
/** Delay before the first piece of a stream. */
export const FIRST_PIECE_MS = 60

/** The tokens of a call: different for each kind, so that they cannot be confused. */
export function billed(provider: VendorCall['provider'], asked: Asked): VendorCall {
  const { model, stream } = asked
  const hasCache = provider !== 'ollama' && !asked.wantsTool
  const hasReasoning = (provider === 'openai' || provider === 'google') && !asked.wantsTool
  const refused = model.includes(BROKEN)
  const input = asked.wantsTool ? 211 : asked.hasResult ? 263 : 127
  return {
    provider,
    model,
    streamed: stream,
    refused,
    input: refused ? 0 : input,
    cache_read: !refused && hasCache ? 64 : 0,
    cache_creation: !refused && hasCache && provider === 'anthropic' ? 32 : 0,
    output: refused ? 0 : asked.wantsTool ? 31 : asked.hasResult ? 29 : 43,
    reasoning: !refused && hasReasoning ? 16 : 0,
    text: asked.wantsTool ? undefined : asked.hasResult ? WEATHER_REPLY : REPLY,
  }
}

/** A text split into pieces for a stream. */
export function piecesOf(text: string): string[] {
  return text.split(/(?<= )/)
}
