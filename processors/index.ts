import type { Processor } from '../src/trace/messages/processor.ts'
import { anthropicMessages } from './anthropic-messages.ts'
import { bedrockConverse } from './bedrock-converse.ts'
import { gemini } from './gemini.ts'
import { langchainMessages } from './langchain-messages.ts'
import { langchainStyle } from './langchain-style.ts'
import { ollama } from './ollama.ts'
import { openaiChat } from './openai-chat.ts'
import { openaiCompletions } from './openai-completions.ts'
import { openaiResponses } from './openai-responses.ts'
import { openinference } from './openinference.ts'
import { openllmetry } from './openllmetry.ts'
import { otelGenai } from './otel-genai.ts'
import { plainMessage } from './plain-message.ts'
import { vercelAi } from './vercel-ai.ts'

/**
 * Every built-in format. The highest match counts, and the earlier of equal ones, so formats with distinctive keys are
 * before those that accept almost anything.
 */
export const builtInProcessors: readonly Processor[] = [
  ollama,
  otelGenai,
  openinference,
  openllmetry,
  langchainMessages,
  vercelAi,
  anthropicMessages,
  gemini,
  bedrockConverse,
  openaiResponses,
  langchainStyle,
  openaiChat,
  openaiCompletions,
  plainMessage,
]
