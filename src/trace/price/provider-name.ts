/** Operation names that clients append to the provider (rule N9). */
export const PROVIDER_SUFFIX =
  /[._-](chat|responses|completions?|messages|embeddings?|generative-ai|image|speech|transcription)$/

/** Names of Google's model services, in their APIs and in clients. */
export const GOOGLE_PROVIDER =
  /^(?:gcp|google|gemini|vertex|vertexai|googleai|googlevertex|googlegenerativeai)(?:$|[-_. ])/

/** Other spellings of providers, by the displayed spelling. */
const SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  azure: [
    'az.ai.openai',
    'azure.ai.openai',
    'az.ai.inference',
    'azure.ai.inference',
    'azure-openai',
    'azure_openai',
    'azure_ai',
    'azureopenai',
  ],
  google: [
    'gemini',
    'vertex_ai',
    'vertexai',
    'google_genai',
    'google_vertexai',
    'gcp.gemini',
    'gcp.vertex_ai',
  ],
  'aws.bedrock': [
    'aws',
    'bedrock',
    'aws_bedrock',
    'aws-bedrock',
    'amazon_bedrock',
    'amazon-bedrock',
    'amazon.bedrock',
    'bedrock_converse',
  ],
  xai: ['x_ai', 'x-ai', 'x.ai', 'grok'],
  mistral: ['mistralai', 'mistral_ai', 'mistral-ai'],
  together: ['together_ai', 'together-ai', 'togetherai'],
  fireworks: ['fireworks_ai', 'fireworks-ai', 'fireworksai'],
  moonshotai: ['moonshot', 'moonshot_ai', 'moonshot-ai'],
  perplexity: ['perplexity_ai', 'perplexity-ai', 'perplexityai', 'pplx'],
  huggingface: ['hugging_face', 'hugging-face'],
  'ibm.watsonx.ai': ['watsonx', 'ibm_watsonx', 'ibm-watsonx', 'ibm.watsonx'],
}

/** Pairs of another spelling and the displayed one; rows of earlier releases contain both. */
export const PROVIDER_SPELLINGS: readonly (readonly [string, string])[] = Object.entries(SPELLINGS).flatMap(
  ([shown, others]) => others.map((other) => [other, shown] as const),
)
const SHOWN: ReadonlyMap<string, string> = new Map(PROVIDER_SPELLINGS)
/** A Map, because a provider may have the name of a property that every object has, such as `constructor`. */
const OTHERS: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(SPELLINGS))

/** A provider's name in lower case, without operation suffix, in the displayed spelling (D-15). */
export function normalizeProvider(raw: string): string {
  const provider = raw.trim().toLowerCase().slice(0, 128).replace(PROVIDER_SUFFIX, '')
  return GOOGLE_PROVIDER.test(provider) ? 'google' : (SHOWN.get(provider) ?? provider)
}

/** The names of a provider; the displayed one is first. */
export function spellingsOf(shown: string): string[] {
  return [shown, ...(OTHERS.get(shown) ?? [])]
}

/** Frameworks that report their own name as the provider of the models that they call. */
const FRAMEWORKS = new Set([
  'agno',
  'autogen',
  'crewai',
  'dspy',
  'genkit',
  'haystack',
  'langchain',
  'langgraph',
  'litellm',
  'llama-index',
  'llama_index',
  'llamaindex',
  'mastra',
  'microsoft.agent_framework',
  'openai-agents',
  'openai_agents',
  'pydantic-ai',
  'pydantic_ai',
  'semantic-kernel',
  'semantic_kernel',
  'smolagents',
  'spring-ai',
  'spring_ai',
  'strands',
  'strands-agents',
])

/** Whether the name is that of a framework, which is not a provider of models. */
export function isFramework(name: string): boolean {
  return FRAMEWORKS.has(name.trim().toLowerCase())
}

/** The provider of a price, if the id contains it (see Price): `genai-prices:openai/gpt-4o`. */
export function providerOfPrice(price_model_id: string | undefined): string | undefined {
  const named = /^genai-prices:([^/]+)\//.exec(price_model_id ?? '')?.[1]
  return named === undefined ? undefined : normalizeProvider(named)
}
