import type { ContentBlock, Message } from '../../schema/types.gen.ts'
import { withoutMedia } from '../messages/media.ts'
import { type TokenFamily, type TokenModel, tokenModelFor } from './token-model.ts'
import type { Encoding, TokenBudget, Tokenizer } from './tokenizer.ts'
import { readTools, toolsAsNamespace } from './tool-tokens.ts'

/** An estimated number of tokens of one side of a TraceRun. */
export interface Estimate {
  tokens: number
  encoding: Encoding
  /** Whether some text was not counted, because a sample was extrapolated or embedded media was left out. */
  sampled: boolean
}

/** Inputs of an estimate besides the messages. */
export interface EstimateContext {
  model?: string | undefined
  provider?: string | undefined
  /** Tool definitions offered to the model, as sent; inputs only. */
  tools?: unknown
  /** The TraceRun's budget (`tokenizer.budget()`), shared by both sides. Absent: each call has a separate budget. */
  budget?: TokenBudget | undefined
}

/**
 * Tokens of the messages sent to a model, tools included. Equal to the vendor's count for OpenAI chat without tools and
 * media, otherwise close to it. Not counted are media, and the reasoning of earlier turns, which vendors leave out of
 * the prompt. 0 without messages and tools.
 */
export function estimateInputTokens(
  messages: readonly Message[],
  context: EstimateContext,
  tokenizer: Tokenizer,
): Estimate {
  const model = tokenModelFor(context.model, context.provider)
  const frame = FRAMES[model.family]
  const tally = createTally(model, tokenizer, context.budget)
  const tools = readTools(context.tools)
  // With tools, OpenAI joins the first system message and the definitions by a line break.
  let joinsSystem = model.family === 'openai' && tools.length > 0
  for (const message of messages) {
    const blocks = message.content.filter((block) => block.type !== 'reasoning')
    if (message.role === 'reasoning' || (blocks.length === 0 && message.content.length > 0)) continue
    tally.fixed += message.role === 'system' ? frame.perSystem : frame.perMessage
    if (message.role === 'tool') tally.fixed += frame.perToolResult
    if (frame.perName > 0 && message.name !== undefined && message.role !== 'tool') {
      tally.fixed += frame.perName
      tally.add(message.name)
    }
    const joined = joinsSystem && message.role === 'system'
    if (joined) {
      joinsSystem = false
      tally.fixed -= frame.perSystem
    }
    blocks.forEach((block, i) => tally.addBlock(block, joined && i === blocks.length - 1 ? '\n' : ''))
  }
  if (tools.length > 0) addTools(tally, tools, model, context.model)
  if (messages.length > 0 || tools.length > 0) tally.fixed += frame.priming
  return tally.result()
}

/**
 * Tokens that a model generated: text, visible reasoning and tool calls; no message overhead. 0 for empty outputs, such
 * as those of a failed TraceRun.
 */
export function estimateOutputTokens(
  messages: readonly Message[],
  context: EstimateContext,
  tokenizer: Tokenizer,
): Estimate {
  const model = tokenModelFor(context.model, context.provider)
  const tally = createTally(model, tokenizer, context.budget)
  for (const message of messages) for (const block of message.content) tally.addBlock(block, '')
  return tally.result()
}

/** Tokens of a text of no known message format (for instance a side as JSON): no overhead, media left out. */
export function estimateTextTokens(
  text: string,
  model: string | undefined,
  provider: string | undefined,
  tokenizer: Tokenizer,
  budget?: TokenBudget,
): Estimate {
  const tally = createTally(tokenModelFor(model, provider), tokenizer, budget)
  tally.add(text)
  return tally.result()
}

/** Tokens that a vendor counts for a request besides those of its texts. */
interface Frame {
  /** Tokens added for each message, its role included. */
  perMessage: number
  perSystem: number
  /** Tokens that a speaker's name adds to those of the name itself; 0 if names are not sent to the model. */
  perName: number
  /** Tokens added to `perMessage` for a message with the result of a tool call. */
  perToolResult: number
  /** Tokens that each tool call adds to those of its name and arguments. */
  perToolCall: number
  /** Tokens added once per request. */
  priming: number
}

const CHAT: Frame = { perMessage: 4, perSystem: 4, perName: 1, perToolResult: 1, perToolCall: 4, priming: 3 }
const BARE: Frame = { perMessage: 0, perSystem: 0, perName: 0, perToolResult: 0, perToolCall: 0, priming: 0 }

const FRAMES: Readonly<Record<TokenFamily, Frame>> = {
  openai: CHAT,
  other: CHAT,
  'openai-completion': BARE,
  // A lone user message costs 7 beyond its text, a system prompt only its text (Anthropic's documentation).
  anthropic: { ...CHAT, perSystem: 0, perName: 0 },
  gemini: BARE,
}

// Tokens that tool definitions add to those of their text.
const NAMESPACE_OVERHEAD = 9
// Anthropic's documented example: 42 tokens for a definition whose JSON has 53 in o200k.
const CLAUDE_JSON_FACTOR = 0.8

interface Tally {
  /** Tokens that are added to those of the texts. */
  fixed: number
  /** Counts a text without its media. The tokens are multiplied by `factor`, by default that of the model. */
  add(text: string, factor?: number): void
  /** Counts the text of a block, followed by `suffix`. */
  addBlock(block: ContentBlock, suffix: string): void
  result(): Estimate
}

function createTally(model: TokenModel, tokenizer: Tokenizer, given: TokenBudget | undefined): Tally {
  const budget = given ?? tokenizer.budget()
  let tokens = 0
  let sampled = false
  const tally: Tally = {
    fixed: 0,
    add(text, factor = model.factor) {
      const { text: kept, removed } = withoutMedia(text)
      const count = tokenizer.count(kept, model.encoding, budget)
      tokens += count.tokens * factor
      sampled ||= count.sampled || removed > 0
    },
    addBlock(block, suffix) {
      addBlock(tally, block, suffix, FRAMES[model.family].perToolCall)
    },
    result() {
      return { tokens: Math.max(0, Math.round(tokens + tally.fixed)), encoding: model.encoding, sampled }
    },
  }
  return tally
}

function addBlock(tally: Tally, block: ContentBlock, suffix: string, perToolCall: number): void {
  switch (block.type) {
    case 'text':
    case 'reasoning':
      tally.add(block.text + suffix)
      break
    case 'tool_call':
    case 'server_tool_call':
      tally.fixed += perToolCall
      tally.add(block.name ?? '')
      tally.add(jsonText(block.args))
      break
    case 'server_tool_result':
      tally.add(jsonText(block.output))
      break
    case 'image':
    case 'file':
    case 'audio':
    case 'video':
      break
  }
}

function addTools(
  tally: Tally,
  tools: ReturnType<typeof readTools>,
  model: TokenModel,
  name: string | undefined,
): void {
  if (model.family === 'openai') {
    tally.fixed += NAMESPACE_OVERHEAD
    tally.add(toolsAsNamespace(tools))
  } else {
    const claude = model.family === 'anthropic'
    if (claude) tally.fixed += claudeToolPrompt(name ?? '')
    for (const tool of tools) tally.add(jsonText(tool), claude ? CLAUDE_JSON_FACTOR : undefined)
  }
}

// Anthropic puts a system prompt of its own before the tools; sizes as documented for tool choice `auto`.
function claudeToolPrompt(model: string): number {
  if (model.includes('claude-3-opus')) return 530
  if (model.includes('claude-3-sonnet')) return 159
  if (model.includes('claude-3-haiku') || model.includes('claude-3-5-haiku')) return 264
  return 346
}

// Converts a value to JSON text; a string is unchanged. A value too deep for JSON.stringify cannot have been sent, and
// counts as empty.
function jsonText(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return ''
  }
}
