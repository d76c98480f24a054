/**
 * A name to look up in the default prices, and its provider: the given one, or the one that the name itself contains.
 */
export interface Candidate {
  /** Provider id of the default prices. */
  provider: string | undefined
  model: string
}

/** Patterns of providers, and the ids of these providers in the default prices; the first matching pattern counts. */
const PROVIDERS: readonly (readonly [RegExp, string])[] = [
  [/bedrock|^aws$|^amazon$/, 'aws'],
  [/^az[._]|azure/, 'azure'],
  [/^gcp|google|vertex|gemini/, 'google'],
  [/openrouter/, 'openrouter'],
  [/copilot/, 'github-copilot'],
  [/anthropic/, 'anthropic'],
  [/openai/, 'openai'],
  [/^mistral/, 'mistral'],
  [/^x[-_]?ai$|^grok$/, 'x-ai'],
  [/^together/, 'together'],
  [/^fireworks/, 'fireworks'],
  [/^moonshot/, 'moonshotai'],
  [/^deepseek/, 'deepseek'],
  [/^groq/, 'groq'],
  [/^cohere/, 'cohere'],
  [/^perplexity|^pplx/, 'perplexity'],
  [/^cerebras/, 'cerebras'],
  [/^voyage/, 'voyageai'],
  [/^cloudflare|^workers[-_]ai/, 'cloudflare'],
  [/^zhipu/, 'zhipuai'],
  [/^z\.?ai$/, 'zai'],
  [/^(minimax|novita|baseten|arcee|avian|modal|ovhcloud|doubleword|cursor)/, '$1'],
]

/** Providers of models on the user's own machines, which have no published price per token. */
const LOCAL = /^(ollama|lm[-_ ]?studio|vllm|sglang|llama[-_.]?cpp|localai|tgi|mlx|gpt4all|xinference|triton)/

/** Providers that serve models of other vendors under those vendors' names. */
const GATEWAYS = new Set(['openai', 'openrouter', 'github-copilot'])

/** Models whose names show a provider that the default prices do not recognise. */
const OWNERS: readonly (readonly [RegExp, string])[] = [
  [
    /^(ft:)?(gpt|chatgpt|o\d|text-embedding-(3|ada)|text-(ada|davinci)|davinci|babbage|codex|whisper|computer-use)/,
    'openai',
  ],
  [/^(gemini|gemma|text-embedding-00)/, 'google'],
  [/^(command|embed-|rerank-)/, 'cohere'],
]

const REGION = /^(us-gov|us|eu|apac|au|ca|in|jp|sa|global)\.(?=[a-z])/
const BEDROCK_MAKER =
  /^(ai21|amazon|anthropic|cohere|deepseek|google|luma|meta|minimax|mistral|moonshot|nvidia|openai|qwen|stability|writer)\.(?=[a-z])/

/**
 * The provider's id in the default prices: `local` for the user's own machines, undefined if the default prices lack
 * the provider.
 */
export function priceProvider(provider: string | undefined): string | undefined {
  if (provider === undefined) return undefined
  const name = provider.trim().toLowerCase()
  if (LOCAL.test(name)) return 'local'
  for (const [pattern, id] of PROVIDERS) {
    const match = pattern.exec(name)
    if (match) return id === '$1' ? match[1] : id
  }
  return undefined
}

/**
 * The names under which the default prices may list a model, the most exact first: as sent, without the gateway's or
 * vendor's prefix (`openai/`, `models/`, `us.anthropic.`), as the base of a fine-tune (`ft:base:org::id`), without
 * version, variant and date.
 */
export function candidates(model: string, provider: string | undefined): Candidate[] {
  const home = priceProvider(provider)
  const sent = model.trim().toLowerCase().slice(0, 256)
  const steps = unwrapped(sent)
  if (home === 'local' || sent === '' || steps.some((step) => step.provider === 'local')) return []
  const found = new Map<string, Candidate>()
  const add = (id: string | undefined, name: string): void => {
    for (const each of spellings(name)) found.set(`${id} ${each}`, { provider: id, model: each })
  }
  const bare = steps.at(-1)!.model
  if (home !== undefined) {
    for (const step of steps) add(home, step.model)
    // The price data contains paths of models; a TraceRun has only the last segment of such a path.
    if (home === 'fireworks') add(home, `accounts/fireworks/models/${bare}`)
    if (home === 'azure') for (const each of insideDeployment(bare)) add(home, each)
  }
  const isGateway = home === undefined || GATEWAYS.has(home)
  for (const step of steps) {
    if (step.provider === undefined || !(isGateway || step.isMaker)) continue
    add(step.provider, step.model)
  }
  if (isGateway) {
    for (const each of spellings(bare)) add(OWNERS.find(([pattern]) => pattern.test(each))?.[1], each)
  }
  return [...found.values()]
}

/** A model's name without prefixes, version, variant and date. It is the same for all spellings of a model. */
export function modelStem(model: string): string {
  return model
    .slice(model.lastIndexOf('/') + 1, 256)
    .toLowerCase()
    .replace(/^(?:[a-z-]{2,16}\.){1,3}(?=[a-z])/, '')
    .replace(/[:@][\w.-]*$/, '')
    .replace(/-(?:v\d+|20\d\d-\d\d-\d\d|20\d{6}|\d{3,4}|latest|preview)$/, '')
}

/** A model name after removing one more prefix. */
interface Unwrapped {
  model: string
  /** The provider that the prefix names. */
  provider: string | undefined
  /** Whether the prefix is Bedrock's name for the vendor that made the model, and not the provider that serves it. */
  isMaker: boolean
}

/**
 * The names inside `openai/gpt-4o`, `openai:gpt-4o`, `models/x`, `publishers/google/models/x`, ARNs and
 * `us.anthropic.claude-…`, after removing one prefix after the other.
 */
function unwrapped(sent: string): Unwrapped[] {
  let model = sent
  const steps: Unwrapped[] = [{ model, provider: undefined, isMaker: false }]
  const take = (prefix: string, named: string | undefined): void => {
    model = model.slice(prefix.length)
    steps.push({ model, provider: named && priceProvider(named), isMaker: false })
  }
  if (model.startsWith('arn:')) take(/^[^/]*\/?/.exec(model)![0], 'bedrock')
  for (let match = /^([^/]+)\//.exec(model); match; match = /^([^/]+)\//.exec(model)) take(match[0], match[1])
  const colon = /^([a-z][\w-]*):(?=[a-z])/.exec(model)
  if (colon && priceProvider(colon[1]) !== undefined) take(colon[0], colon[1])
  if (REGION.test(model) || BEDROCK_MAKER.test(model)) take('', 'bedrock')
  const region = REGION.exec(model)
  if (region) take(region[0], 'bedrock')
  const maker = BEDROCK_MAKER.exec(model)
  if (maker) {
    take(maker[0], maker[1])
    steps.at(-1)!.isMaker = true
  }
  return steps
}

/** A name, followed by the same name without tuning, version, variant and date. */
function spellings(name: string): string[] {
  const all = new Set([name])
  let last = name
  const cut = (pattern: RegExp, by: string): void => {
    last = last.replace(pattern, by)
    if (last !== '') all.add(last)
  }
  cut(/^ft:([^:]+).*$/, '$1')
  cut(/^(.+)\.ft-.*$/, '$1')
  cut(/gpt-35/, 'gpt-3.5')
  cut(/[:@][\w.-]*$/, '')
  cut(/-v\d+$/, '')
  cut(/-(20\d\d-\d\d-\d\d|20\d{6}|\d{4}|latest|\d{3})$/, '')
  cut(/-(20\d\d-\d\d-\d\d|20\d{6}|preview)$/, '')
  return [...all]
}

/** Model names inside the name of a deployment, which users choose: `prod-gpt-4o-mini-eu`. */
function insideDeployment(name: string): string[] {
  const start = /(?:^|[-_.])((?:gpt-|chatgpt-|o[1-9]|text-embedding-|claude-|grok-|deepseek-).*)$/.exec(
    name,
  )?.[1]
  if (start === undefined) return []
  const words = start.replace(/[-_](20\d\d)[-_]?(\d\d)[-_]?(\d\d)/, '-$1-$2-$3').split(/[-_]/)
  return words.map((_, i) => words.slice(0, words.length - i).join('-')).filter((it) => /\d/.test(it))
}
