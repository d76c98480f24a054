import type { Encoding } from './bpe/ranks.ts'

/** The vendor's method of converting a request to tokens; the table of `estimate.ts` has one entry per family. */
export type TokenFamily = 'openai' | 'openai-completion' | 'anthropic' | 'gemini' | 'other'

/** Parameters for estimating the tokens of a model. */
export interface TokenModel {
  encoding: Encoding
  family: TokenFamily
  /** Tokens of the model per token of the encoding, for ordinary text. */
  factor: number
  /** Whether the encoding is the model's own, so that the count of a text is exact. */
  exact: boolean
}

interface Rule {
  name: RegExp
  model: TokenModel
}

const OPENAI: TokenModel = { encoding: 'o200k_base', family: 'openai', factor: 1, exact: true }
const CLAUDE: TokenModel = { encoding: 'o200k_base', family: 'anthropic', factor: 1.15, exact: false }
const GEMINI: TokenModel = { encoding: 'o200k_base', family: 'gemini', factor: 1, exact: false }
const OTHER: TokenModel = { encoding: 'o200k_base', family: 'other', factor: 1, exact: false }

function completion(encoding: Encoding): TokenModel {
  return { encoding, family: 'openai-completion', factor: 1, exact: true }
}

// The first match counts, on the bare lower-case name. OpenAI's encodings are those of its tiktoken; the legacy names
// are matched whole, because words like `ada` and `curie` begin many other names.
const RULES: readonly Rule[] = [
  { name: /^gpt-?3[.-]?5-turbo-instruct/, model: completion('cl100k_base') },
  { name: /^(davinci|babbage)-002$/, model: completion('cl100k_base') },
  {
    name: /^(text-davinci-00[23]|code-(davinci|cushman)-00\d|(davinci|cushman)-codex)$/,
    model: completion('p50k_base'),
  },
  { name: /^(text|code)-davinci-edit-001$/, model: completion('p50k_edit') },
  { name: /^(text-)?(davinci|curie|babbage|ada)(-00\d)?(:ft-.*)?$/, model: completion('r50k_base') },
  {
    name: /^(text|code)-(similarity|search)-(davinci|curie|babbage|ada|code|text)-/,
    model: completion('r50k_base'),
  },
  { name: /^gpt-?2$/, model: completion('gpt2') },
  { name: /^text-embedding-/, model: { ...completion('cl100k_base') } },
  // gpt-4 and its dated and turbo kinds, but not gpt-4o, gpt-4.1 and gpt-4.5; Azure writes gpt-35.
  { name: /^(gpt-?3[.-]?5|gpt-?4($|[-_:@]))/, model: { ...OPENAI, encoding: 'cl100k_base' } },
  { name: /^gpt-oss/, model: { ...OPENAI, exact: false } },
  { name: /^(gpt-?\d|gpt-|chatgpt|o\d($|[-_:@])|codex|computer-use)/, model: OPENAI },
  // Anthropic's tokenizer since Opus 4.7 makes about 30 % more tokens of the same text (its documentation).
  { name: /claude-(opus-4[.-][7-9]|[a-z]+-[5-9]|mythos)/, model: { ...CLAUDE, factor: 1.5 } },
  { name: /^claude/, model: CLAUDE },
  { name: /^(gemini|gemma|learnlm|text-bison|chat-bison|text-unicorn)/, model: GEMINI },
]

// For names without a rule, such as Azure deployments; the provider is normalised (rule N9).
const PROVIDERS: readonly Rule[] = [
  { name: /^(openai|azure)/, model: { ...OPENAI, exact: false } },
  { name: /^anthropic/, model: CLAUDE },
  { name: /^(google|gemini|vertex|gcp)/, model: GEMINI },
]

/**
 * Selects the parameters of estimates for a model, by its name (any case; with or without provider prefix, Bedrock
 * region and vendor, fine-tune wrapping, version and date), then by its provider. A missing or unknown name is counted
 * as o200k_base with OpenAI's chat overhead. Never throws.
 */
export function tokenModelFor(model: string | undefined, provider?: string): TokenModel {
  const name = nameWithoutPrefix(model ?? '')
  const byName = RULES.find((rule) => rule.name.test(name))
  if (byName !== undefined) return byName.model
  const vendor = (provider ?? '').trim().toLowerCase()
  return PROVIDERS.find((rule) => rule.name.test(vendor))?.model ?? OTHER
}

// `openai/gpt-4o`, `models/gemini-2.0`, `azure_openai:gpt-4`, `us.anthropic.claude-…-v1:0`, `ft:gpt-4o:org::id`.
function nameWithoutPrefix(model: string): string {
  let name = model.slice(0, 512).trim().toLowerCase()
  name = name.slice(name.lastIndexOf('/') + 1)
  name = name.replace(
    /^(openai|azure|azure_openai|azure-openai|anthropic|bedrock|google[a-z_-]*|gemini):/,
    '',
  )
  name = name.replace(/^ft:/, '')
  name = name.replace(/^(us|eu|apac|global|jp|au|ca|sa|us-gov)\./, '')
  return name.replace(/^(anthropic|openai|google|amazon|meta|mistral|cohere|ai21|deepseek|qwen)\./, '')
}
