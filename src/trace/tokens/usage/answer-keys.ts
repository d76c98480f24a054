import { type JsonObject, isObject } from '../../../schema/json.ts'
import { remember } from '../../json/known-names.ts'
import { isOfAnswers } from './read-usage.ts'

export const USAGE_KEYS = [
  'usage',
  'usageMetadata',
  'usage_metadata',
  'token_usage',
  'tokenUsage',
  'usage_info',
  'usage_details',
  'usageDetails',
  'usageInfo',
  'estimatedTokenUsage',
  'amazon-bedrock-invocationMetrics',
  'usageEvent',
] as const
/** Keys of objects that may have counts, and other numbers as well. */
const MIXED_KEYS = [
  'metrics',
  'stats',
  'timings',
  'meta',
  'x_groq',
  'additional_kwargs',
  'extra_info',
] as const
/** Keys that may wrap an answer. */
const WRAPPERS = [
  'output',
  'outputs',
  'message',
  'response',
  'body',
  'result',
  'final_result',
  'orchestration_result',
  'raw',
  'raw_response',
  '_raw_response',
  'data',
  'kwargs',
  'metadata',
  'response_metadata',
  'generation_info',
  'generationInfo',
  'llm_output',
  'llmOutput',
  'event',
  'providerMetadata',
  'provider_metadata',
  'properties',
  'google',
  'openai',
  'anthropic',
  'bedrock',
  'vertex',
  'openrouter',
  'azure',
  'deepseek',
  'perplexity',
] as const

/** Keys of lists whose last item is an answer. */
export const LISTS = ['replies', 'messages', 'meta'] as const

/** What a key of an answer may lead to. */
interface KeyFacts {
  key: string
  kind: 'usage' | 'mixed' | 'wrapper' | undefined
  /** Objects under keys of lower rank are read first. */
  rank: number
  /** Whether the table of answers has rows for it. */
  isAnswers: boolean
  /** Whether it is the name of a count, by which a usage object is found under any key. */
  isCount: boolean
  /** Whether an object below it may be a usage object. */
  mayHold: boolean
  /** Whether it is the key of a list of answers. */
  isList: boolean
}

const RANKED: ReadonlyMap<string, readonly [kind: KeyFacts['kind'], rank: number]> = new Map(
  (
    [
      ...USAGE_KEYS.map((key) => [key, 'usage']),
      ...MIXED_KEYS.map((key) => [key, 'mixed']),
      ...WRAPPERS.map((key) => [key, 'wrapper']),
    ] as [string, KeyFacts['kind']][]
  ).map(([key, kind], rank) => [key, [kind, rank]]),
)

const COUNT_NAME = /(?:_tokens|Tokens|TokenCount|_token_count|eval_count|_pixels)$/
/** Objects with counts that are not the call's: the table of answers reads or reports them. */
const OTHERS = /^(?:(?:summary|intents|topics|sentiment)_info|svg_usage|details)$/

/** The facts of keys that were looked up. Bounded by `remember`. */
const keyFacts = new Map<string, KeyFacts>()

function factsOf(key: string): KeyFacts {
  return keyFacts.get(key) ?? remember(keyFacts, key, findFacts(key))
}

function findFacts(key: string): KeyFacts {
  const [kind, rank] = RANKED.get(key) ?? [undefined, RANKED.size]
  return {
    key,
    kind,
    rank,
    isAnswers: isOfAnswers(key),
    isCount: COUNT_NAME.test(key),
    mayHold: kind === undefined && !OTHERS.test(key),
    isList: key === 'generations' || LISTS.some((name) => name === key),
  }
}

/** Number of keys that are searched for counts. */
export const MOST_SEARCHED = 50
const NO_KEYS: readonly never[] = []

/** The keys of an answer that lead to usage. */
interface Survey {
  known: readonly KeyFacts[]
  /** Counts among the fields of the answer. */
  own: JsonObject | undefined
  /** Keys without a meaning of their own whose objects have counts. */
  holders: readonly string[]
  hasFacts: boolean
  hasLists: boolean
}

/** Finds the keys of an answer that lead to usage, in one pass. */
export function surveyKeys(answer: JsonObject): Survey {
  let known: KeyFacts[] | undefined
  let own: JsonObject | undefined
  let holders: string[] | undefined
  let [hasFacts, hasLists, left] = [false, false, MOST_SEARCHED]
  for (const key in answer) {
    const facts = factsOf(key)
    if (facts.kind !== undefined) (known ??= []).push(facts)
    hasFacts ||= facts.isAnswers
    hasLists ||= facts.isList
    if (left-- <= 0) continue
    const value = answer[key]
    if (typeof value !== 'object') {
      if (facts.isCount && !key.startsWith('$ai_')) (own ??= {})[key] = value
    } else if (facts.mayHold && isObject(value) && hasCounts(value)) (holders ??= []).push(key)
  }
  if (known !== undefined && known.length > 1) known.sort((a, b) => a.rank - b.rank)
  return { known: known ?? NO_KEYS, own, holders: holders ?? NO_KEYS, hasFacts, hasLists }
}

function hasCounts(value: JsonObject): boolean {
  let left = MOST_SEARCHED
  for (const key in value) {
    if (left-- <= 0) return false
    if (typeof value[key] === 'number' && factsOf(key).isCount) return true
  }
  return false
}
