import { type JsonObject, type JsonValue, isObject } from '../../../schema/json.ts'
import type { UsageReading } from './read-usage.ts'

/** Items of an answer that are searched for calls of tools. */
const MOST_ITEMS = 200

/** Adds to the reading of an answer what only several of its fields together tell. */
export function addFacts(reading: UsageReading, answer: JsonObject): void {
  const { units, conditions } = reading
  const add = (unit: string, count: number): void => {
    if (count > 0) units[unit] ??= count
  }
  const items = answer['output']
  if (Array.isArray(items) && answer['tool_usage'] === undefined) addItems(items, add)
  const seconds = secondsOf(answer)
  if (seconds !== undefined) add(...seconds)
  if (answer['$ai_cache_reporting_exclusive'] === true)
    reading.beside = new Set(['input.cache_read', 'input.cache_creation'])
  const isBatchLine = answer['custom_id'] !== undefined && isObject(answer['response'])
  if (isBatchLine || answer['object'] === 'batch') conditions['service_tier'] ??= 'batch'
  reading.isKnown ||= Object.keys(units).length + Object.keys(conditions).length > 0
}

/** Calls of tools in the items of a Responses answer; a page that the model opens is not charged. */
const ITEMS: readonly (readonly [type: string, unit: string])[] = [
  ['web_search_call', 'web_searches'],
  ['file_search_call', 'storage_searches'],
  ['code_interpreter_call', 'code_executions'],
]

function addItems(items: readonly JsonValue[], add: (unit: string, count: number) => void): void {
  const searched = items.slice(0, MOST_ITEMS).filter(isObject)
  for (const [type, unit] of ITEMS) {
    const calls = searched.filter((item) => {
      const action = item['action']
      return (
        item['type'] === type &&
        (!isObject(action) || action['type'] === undefined || action['type'] === 'search')
      )
    })
    add(unit, calls.length)
  }
}

/** Length of the sound that an answer is about: of OpenAI's verbose transcription, and of Deepgram's. */
function secondsOf(answer: JsonObject): [unit: string, seconds: number] | undefined {
  const { duration, task, segments, metadata } = answer
  const isTranscription = task === 'transcribe' || task === 'translate' || Array.isArray(segments)
  if (isTranscription && isSeconds(duration)) return ['audio_seconds', Number(duration)]
  if (!isObject(metadata) || !('channels' in metadata || 'transaction_key' in metadata)) return undefined
  return isSeconds(metadata['duration']) ? ['input_audio_seconds', Number(metadata['duration'])] : undefined
}

function isSeconds(value: JsonValue | undefined): boolean {
  return (typeof value === 'number' || typeof value === 'string') && Number(value) > 0
}
