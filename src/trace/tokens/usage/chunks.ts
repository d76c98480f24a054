import { type JsonObject, type JsonValue, isObject } from '../../../schema/json.ts'
import { addFacts } from './answer-facts.ts'
import { readAnswerFacts, readUsage, type UsageReading } from './read-usage.ts'
import { addPictureTokens, isPicture } from './pictures.ts'

/** Number of last and of first chunks that are searched. The first ones have the input of Anthropic's streams. */
const LAST_CHUNKS = 16
const FIRST_CHUNKS = 4

const PLACES: readonly (readonly (string | number)[])[] = [
  ['totalUsage'],
  ['usage'],
  ['usageMetadata'],
  ['usage_metadata'],
  ['message', 'usage'],
  ['delta', 'usage'],
  ['metadata', 'usage'],
  ['x_groq', 'usage'],
  ['choices', 0, 'usage'],
  ['response', 'usage'],
  ['interaction', 'usage'],
  ['data', 'usage'],
  ['response', 'usageMetadata'],
  ['amazon-bedrock-invocationMetrics'],
  ['event', 'usageEvent'],
  ['event', 'metadata', 'usage'],
]

/**
 * The usage of a stream. Chunks repeat growing counts, or only the last one has them, so the last value of each field
 * that is not null counts. Undefined if no chunk has usage.
 */
export function readChunks(
  chunks: readonly JsonValue[],
  path: string,
  provider: string | undefined,
): UsageReading | undefined {
  const start = Math.max(FIRST_CHUNKS, chunks.length - LAST_CHUNKS)
  const searched = [...chunks.slice(0, FIRST_CHUNKS), ...chunks.slice(start)]
  const merged: JsonObject = {}
  let isStarted = false
  let isFinished = false
  let id: JsonValue | undefined
  for (const chunk of searched.toReversed()) {
    if (!isObject(chunk)) continue
    // Items with ids of their own are answers of different calls; the last one counts.
    id ??= chunk['id']
    if (chunk['id'] !== undefined && chunk['id'] !== id) break
    for (const place of PLACES) {
      const usage = at(chunk, place)
      if (!isObject(usage)) continue
      fill(merged, usage)
      if (chunk['type'] === 'message_start') isStarted = true
      else isFinished = true
    }
  }
  // The output of Anthropic's first event is a placeholder.
  if (isStarted && !isFinished) delete merged['output_tokens']
  const reading = readUsage(merged, path, provider)
  if (searched.some((chunk) => isObject(chunk) && isPicture(chunk))) addPictureTokens(reading)
  dropFirstTotal(reading)
  for (const chunk of searched.toReversed()) addAnswer(reading, chunk, path, provider)
  const isRead = reading.isKnown || reading.unread.length > 0 || reading.models.length > 0
  return isRead ? reading : undefined
}

/** Drops the total of a stream that was cut before its first count of the output: it is that of the input. */
function dropFirstTotal({ value }: UsageReading): void {
  const { input_tokens: input, output_tokens: output, total_tokens: total } = value
  if (input !== undefined && output === undefined && total === input) delete value['total_tokens']
}

function at(chunk: JsonObject, place: readonly (string | number)[]): JsonValue | undefined {
  let value: JsonValue | undefined = chunk
  for (const key of place) {
    if (Array.isArray(value) && typeof key === 'number') value = value[key]
    else value = isObject(value) ? value[key] : undefined
  }
  return value
}

/** Adds the fields of an earlier chunk that no later one has. */
function fill(merged: JsonObject, earlier: JsonObject): void {
  for (const [key, value] of Object.entries(earlier)) {
    if (value === null || value === undefined || key === '__proto__') continue
    const known = merged[key]
    if (known === undefined) merged[key] = structuredClone(value)
    else if (isObject(known) && isObject(value)) fill(known, value)
  }
}

/** Keys of chunks under which the conditions of the call are. */
const WHOLE = ['response', 'metadata', 'interaction', 'data'] as const

/** Adds what a chunk says outside of its usage. */
function addAnswer(
  reading: UsageReading,
  chunk: JsonValue,
  path: string,
  provider: string | undefined,
): void {
  const whole = isObject(chunk) ? (WHOLE.map((key) => chunk[key]).find(isObject) ?? chunk) : chunk
  const answer = readAnswerFacts(whole, path, provider)
  if (isObject(whole)) addFacts(answer, whole, path)
  if (reading.models.length === 0) reading.models = answer.models
  if (!answer.isKnown && answer.unread.length === 0) return
  reading.isKnown ||= answer.isKnown
  reading.units = { ...answer.units, ...reading.units }
  reading.unit_paths = { ...answer.unit_paths, ...reading.unit_paths }
  reading.conditions = { ...answer.conditions, ...reading.conditions }
  if (reading.unread.length === 0) reading.unread = answer.unread
  reading.costs = { ...answer.costs, ...reading.costs }
  // Some vendors tell the input in the first chunk, and 0 in all others.
  for (const side of ['input_tokens', 'output_tokens'] as const) {
    const count = answer.value[side]
    if (count !== undefined && !reading.value[side]) reading.value[side] = count
  }
}
