import { ANTHROPIC_USAGE, CLAUDE_CODE } from './anthropic.ts'
import { BEDROCK_USAGE } from './bedrock.ts'
import type { UsageDialect } from './dialect.ts'
import { AI_SDK, GENKIT, LANGFUSE, LITELLM, PLATFORMS, PYDANTIC_AI } from './frameworks.ts'
import { GOOGLE_USAGE } from './google.ts'
import { OPENAI_USAGE, OPENAI_LIKE } from './openai.ts'
import {
  COHERE,
  DOTNET,
  HOSTS,
  LOCAL,
  MISTRAL,
  OPENROUTER,
  PERPLEXITY,
  QWEN,
  SOUND,
  VOYAGE,
  XAI,
} from './vendors.ts'

/** The dialects of usage objects. Of several that fit equally well, the first one is used. */
export const USAGE_DIALECTS: readonly UsageDialect[] = [
  OPENAI_USAGE,
  ANTHROPIC_USAGE,
  GOOGLE_USAGE,
  BEDROCK_USAGE,
  AI_SDK,
  OPENAI_LIKE,
  LITELLM,
  OPENROUTER,
  PERPLEXITY,
  XAI,
  MISTRAL,
  COHERE,
  QWEN,
  VOYAGE,
  LOCAL,
  HOSTS,
  DOTNET,
  PYDANTIC_AI,
  PLATFORMS,
  GENKIT,
  LANGFUSE,
  CLAUDE_CODE,
  SOUND,
]
