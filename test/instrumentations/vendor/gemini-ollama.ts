import { type Asked, piecesOf, TOOL_CALL, type VendorCall } from './call.ts'

/** A body of POST /v1beta/models/{model}:generateContent, with the fields that determine the answer. */
export interface GeminiBody {
  contents: { parts: object[] }[]
  tools?: unknown[]
}

export function geminiAsked({ contents, tools }: GeminiBody, model: string, stream: boolean): Asked {
  const hasResult = contents.at(-1)?.parts.some((part) => 'functionResponse' in part) === true
  return { model, stream, hasResult, wantsTool: (tools?.length ?? 0) > 0 && !hasResult }
}

function geminiPiece(call: VendorCall, id: string, parts: object[], isLast: boolean): object {
  return {
    candidates: [{ content: { role: 'model', parts }, index: 0, ...(isLast && { finishReason: 'STOP' }) }],
    modelVersion: call.model,
    responseId: id,
    // The candidates' tokens exclude the thoughts.
    usageMetadata: {
      promptTokenCount: call.input,
      ...(call.cache_read > 0 && { cachedContentTokenCount: call.cache_read }),
      candidatesTokenCount: call.output - call.reasoning,
      ...(call.reasoning > 0 && { thoughtsTokenCount: call.reasoning }),
      totalTokenCount: call.input + call.output,
    },
  }
}

function geminiParts({ text }: VendorCall): object[] {
  return text === undefined ? [{ functionCall: TOOL_CALL }] : piecesOf(text).map((piece) => ({ text: piece }))
}

export function geminiAnswer(call: VendorCall, id: string): object {
  const parts = call.text === undefined ? geminiParts(call) : [{ text: call.text }]
  return geminiPiece(call, id, parts, true)
}

export function geminiStream(call: VendorCall, id: string): string[] {
  const parts = geminiParts(call)
  return parts.map(
    (part, i) => `data: ${JSON.stringify(geminiPiece(call, id, [part], i === parts.length - 1))}\n\n`,
  )
}

/** A body of POST /api/chat of Ollama, with the fields that determine the answer. */
export interface OllamaBody {
  model: string
  messages: { role: string }[]
  tools?: unknown[]
  stream?: boolean
}

export function ollamaAsked({ model, messages, tools, stream = true }: OllamaBody): Asked {
  const hasResult = messages.at(-1)?.role === 'tool'
  return { model, stream, hasResult, wantsTool: (tools?.length ?? 0) > 0 && !hasResult }
}

function ollamaPiece(call: VendorCall, message: object, done: boolean): object {
  const ended = {
    done_reason: 'stop',
    total_duration: 5_000_000,
    load_duration: 1_000_000,
    prompt_eval_count: call.input,
    prompt_eval_duration: 2_000_000,
    eval_count: call.output,
    eval_duration: 2_000_000,
  }
  return { model: call.model, created_at: new Date().toISOString(), message, done, ...(done && ended) }
}

export function ollamaAnswer(call: VendorCall): object {
  const { name, args } = TOOL_CALL
  const calls = { tool_calls: [{ function: { name, arguments: args } }] }
  return ollamaPiece(
    call,
    { role: 'assistant', content: call.text ?? '', ...(call.text === undefined && calls) },
    true,
  )
}

export function ollamaStream(call: VendorCall): string[] {
  const said = (content: string) => ({ role: 'assistant', content })
  const pieces =
    call.text === undefined
      ? [ollamaAnswer(call)]
      : [
          ...piecesOf(call.text).map((piece) => ollamaPiece(call, said(piece), false)),
          ollamaPiece(call, said(''), true),
        ]
  return pieces.map((piece) => `${JSON.stringify(piece)}\n`)
}
