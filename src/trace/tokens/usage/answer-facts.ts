import { type JsonObject, type JsonValue, isObject } from '../../../schema/json.ts'
import type { UsageReading } from './read-usage.ts'

/** Items of an answer that are searched for calls of tools. */
const MOST_ITEMS = 200

/** Adds to the reading of an answer what only several of its fields together tell. */
export function addFacts(reading: UsageReading, answer: JsonObject, path: string): void {
  const { units, unit_paths, conditions } = reading
  const add: AddUnit = (unit, count, key) => {
    if (count <= 0 || units[unit] !== undefined) return
    units[unit] = count
    unit_paths[unit] = `${path}.${key}`
  }
  const { output: items, tool_usage: told } = answer
  if (Array.isArray(items)) addItems(items, isObject(told) ? told : {}, add)
  addSeconds(answer, add)
  if (answer['$ai_cache_reporting_exclusive'] === true)
    reading.beside = new Set(['input.cache_read', 'input.cache_creation'])
  const isBatchLine =
    answer['custom_id'] !== undefined && (isObject(answer['response']) || isObject(answer['result']))
  if (isBatchLine || answer['object'] === 'batch') conditions['service_tier'] ??= 'batch'
  reading.isKnown ||= Object.keys(units).length + Object.keys(conditions).length > 0
}

type AddUnit = (unit: string, count: number, key: string) => void

/** Calls of tools in the items of a Responses answer; a page that the model opens is not charged. */
const ITEMS: readonly (readonly [type: string, unit: string, tool: string])[] = [
  ['web_search_call', 'web_searches', 'web_search'],
  ['file_search_call', 'storage_searches', 'file_search'],
  ['code_interpreter_call', 'code_executions', 'code_interpreter'],
]

/** `told` has the numbers of calls of some tools; those of the others are in the items alone. */
function addItems(items: readonly JsonValue[], told: JsonObject, add: AddUnit): void {
  const searched = items.slice(0, MOST_ITEMS).filter(isObject)
  for (const [type, unit, tool] of ITEMS) {
    if (told[tool] !== undefined) continue
    const calls = searched.filter((item) => {
      const action = item['action']
      return (
        item['type'] === type &&
        (!isObject(action) || action['type'] === undefined || action['type'] === 'search')
      )
    })
    add(unit, calls.length, 'output')
  }
}

/** Length of the sound that an answer is about, where a field of any name may be another length, or is in milliseconds. */
function addSeconds(answer: JsonObject, add: AddUnit): void {
  const { duration, task, segments, metadata, audio_duration_ms, extra_info } = answer
  const isTranscription = task === 'transcribe' || task === 'translate' || Array.isArray(segments)
  if (isTranscription) add('audio_seconds', secondsIn(duration), 'duration')
  if (isObject(metadata) && ('channels' in metadata || 'transaction_key' in metadata))
    add('input_audio_seconds', secondsIn(metadata['duration']), 'metadata.duration')
  add('input_audio_seconds', secondsIn(audio_duration_ms, 1000), 'audio_duration_ms')
  if (isObject(extra_info))
    add('output_audio_seconds', secondsIn(extra_info['audio_length'], 1000), 'extra_info.audio_length')
}

/** 0 for a value that is no length. */
function secondsIn(value: JsonValue | undefined, perSecond = 1): number {
  const length = typeof value === 'number' || typeof value === 'string' ? Number(value) : 0
  return length > 0 && Number.isFinite(length) ? length / perSecond : 0
}
