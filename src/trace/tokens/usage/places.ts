import { type JsonObject, type JsonValue, isObject } from '../../../schema/json.ts'
import { joinPath } from '../../../schema/issue.ts'
import type { UsageMetadata } from '../../../schema/types.gen.ts'
import { parseJson } from '../../json/json-text.ts'
import { chunkUsage } from '../../messages/langchain-chunks.ts'
import {
  readAnswerFacts,
  readUsage,
  readUsageByModel,
  readUsageMetadata,
  type UsageReading,
} from './read-usage.ts'
import { addFacts } from './answer-facts.ts'
import { LISTS, MOST_SEARCHED, surveyKeys, USAGE_KEYS } from './answer-keys.ts'
import { addPictureTokens, isPicture } from './pictures.ts'
import { readChunks } from './chunks.ts'
import type { UsageSource } from './record.ts'

/** What one place of a TraceRun says about usage. */
export interface FoundUsage {
  reading: UsageReading
  path: string
  source: UsageSource
}

/** What every place of a TraceRun says, in order of precedence: attributes of its span, the client's counts, the vendor's. */
export function findUsage(
  outputs: JsonValue | undefined,
  metadata: JsonObject,
  span: readonly FoundUsage[],
  provider: string | undefined,
): FoundUsage[] {
  const found = [...span]
  const out = isObject(outputs) ? outputs : undefined
  if (hasClientPlace(outputs, metadata))
    for (const [path, sent] of clientPlaces(outputs, metadata)) {
      const value = asObject(sent)
      if (value !== undefined) found.push(clientUsage(value, path, provider))
    }
  if (out) {
    addNested(found, out, provider)
    addGenerations(found, out, provider)
  }
  if (outputs !== undefined) addVendor(found, outputs, 'outputs', provider)
  return found
}

/** Whether something is at a place of the interface. */
export function hasClientPlace(outputs: JsonValue | undefined, metadata: JsonObject): boolean {
  return metadata['usage_metadata'] !== undefined || (isObject(outputs) && 'usage_metadata' in outputs)
}

/** The two places of the interface for usage_metadata, with what was sent there. */
export function clientPlaces(
  outputs: JsonValue | undefined,
  metadata: JsonObject,
): [path: string, sent: JsonValue | undefined][] {
  return [
    ['outputs.usage_metadata', isObject(outputs) ? outputs['usage_metadata'] : undefined],
    ['extra.metadata.usage_metadata', metadata['usage_metadata']],
  ]
}

/** An object, also one that was sent as JSON text; undefined for any other value. */
export function asObject(value: JsonValue | undefined): JsonObject | undefined {
  const read = typeof value === 'string' ? parseJson(value)?.value : value
  return isObject(read) ? read : undefined
}

/** The counts that a user's own processor found. */
export function formatUsage(value: UsageMetadata): FoundUsage {
  return { reading: readUsageMetadata(value as JsonObject, 'outputs'), path: 'outputs', source: 'vendor' }
}

/** usage_metadata of a client. Gemini's own object has the same name, but not the same names in it. */
function clientUsage(value: JsonObject, path: string, provider: string | undefined): FoundUsage {
  const reading = OUR_NAMES.some((name) => name in value)
    ? readUsageMetadata(value, path)
    : readUsage(value, path, provider)
  // Costs are read apart, because a client may send them without counts.
  for (const name of COSTS) if (value[name] !== undefined) reading.value[name] = value[name]
  return { reading, path, source: 'client' }
}

const COSTS = [
  'input_cost',
  'output_cost',
  'total_cost',
  'input_cost_details',
  'output_cost_details',
] as const
const OUR_NAMES = [
  'input_tokens',
  'output_tokens',
  'input_token_details',
  'output_token_details',
  'units',
  'conditions',
  ...COSTS,
] as const

/** `outputs.<key>.usage_metadata`, also inside a LangChain constructor's kwargs, or a list's messages or choices. */
function addNested(found: FoundUsage[], out: JsonObject, provider: string | undefined): void {
  let left = MOST_SEARCHED
  for (const key in out) {
    if (left-- <= 0) break
    const entry = out[key]
    if (typeof entry !== 'object' || entry === null) continue
    const streamed = Array.isArray(entry) ? chunkUsage(entry) : undefined
    if (streamed !== undefined) found.push(clientUsage(streamed, `outputs.${key}`, provider))
    else if (!Array.isArray(entry)) addMessage(found, entry, `outputs.${key}`, provider)
    else
      for (let i = Math.max(0, entry.length - 3); i < entry.length; i++) {
        const item = entry[i]
        const path = `outputs.${key}[${i}]`
        if (key === 'choices' && isObject(item))
          addMessage(found, item['message'], `${path}.message`, provider)
        else addMessage(found, item, path, provider)
      }
  }
}

/** The first of `generations[][].message` that has usage. */
function addGenerations(found: FoundUsage[], out: JsonObject, provider: string | undefined): void {
  if (!Array.isArray(out['generations'])) return
  for (const [i, row] of out['generations'].slice(0, 10).entries()) {
    for (const [k, generation] of (Array.isArray(row) ? row.slice(0, 10) : [row]).entries()) {
      if (!isObject(generation)) continue
      const place = Array.isArray(row) ? `[${i}][${k}]` : `[${i}]`
      const before = found.length
      addMessage(found, generation['message'], `outputs.generations${place}.message`, provider)
      if (found.length > before) return
    }
  }
}

function addMessage(
  found: FoundUsage[],
  item: JsonValue | undefined,
  path: string,
  provider: string | undefined,
): void {
  if (!isObject(item)) return
  const kwargs = item['kwargs']
  if (isObject(item['usage_metadata']))
    found.push(clientUsage(item['usage_metadata'], `${path}.usage_metadata`, provider))
  else if (isObject(kwargs) && isObject(kwargs['usage_metadata']))
    found.push(clientUsage(kwargs['usage_metadata'], `${path}.kwargs.usage_metadata`, provider))
}

const MAX_DEPTH = 5
/** Keys under which replies have what the vendor said. */
const IN_REPLIES = ['meta', '_meta'] as const

/** What a vendor's answer says, also inside wrappers, LangChain's generations and the chunks of a stream. */
export function vendorUsage(answer: JsonValue, path: string, provider?: string): FoundUsage[] {
  const found: FoundUsage[] = []
  addVendor(found, answer, path, provider)
  return found
}

function addVendor(
  found: FoundUsage[],
  answer: JsonValue | undefined,
  path: string,
  provider: string | undefined,
  depth = 0,
): void {
  if (Array.isArray(answer)) {
    addList(found, answer, path, provider, depth)
    return
  }
  if (!isObject(answer)) return
  const { known, own, holders, hasFacts, hasLists } = surveyKeys(answer)
  for (const { key, kind } of known) {
    const value = answer[key]
    const usage = kind === 'usage' ? asObject(value) : undefined
    if (usage !== undefined) addUsage(found, usage, joinPath(path, key), provider, answer)
    if (kind === 'mixed' && isObject(value)) addMixed(found, value, joinPath(path, key), provider)
  }
  if (hasFacts) {
    const reading = readAnswerFacts(answer, path, provider)
    addFacts(reading, answer, path)
    if (reading.isKnown || reading.unread.length > 0 || reading.models.length > 0)
      found.push({ reading, path, source: 'vendor' })
  }
  for (const key of holders) addUsage(found, answer[key] as JsonObject, joinPath(path, key), provider, answer)
  if (own !== undefined) addOwnCounts(found, own, path, provider)
  if (depth >= MAX_DEPTH) return
  for (const { key, kind } of known) {
    const inner = answer[key]
    if (kind === 'wrapper' && typeof inner === 'object' && inner !== null)
      addVendor(found, inner, joinPath(path, key), provider, depth + 1)
  }
  if (!hasLists) return
  addFirstGeneration(found, answer, path, provider, depth)
  for (const key of LISTS) addLast(found, answer, key, path, provider, depth)
}

/** Reads the chunks of a stream. Without counts in them, the last items are read as answers. */
function addList(
  found: FoundUsage[],
  list: readonly JsonValue[],
  path: string,
  provider: string | undefined,
  depth: number,
): void {
  const reading = list.some(isObject) ? readChunks(list, path, provider) : undefined
  if (reading) addReading(found, { reading, path, source: 'vendor' }, provider)
  if (reading !== undefined && (reading.models.length > 0 || Object.keys(reading.value).length > 0)) {
    addNotes(found, list, path, provider)
    return
  }
  if (depth > 1) return
  const below = list.length === 1 ? depth + 1 : MAX_DEPTH - 1
  for (let i = list.length - 1; i >= Math.max(0, list.length - 3); i--)
    if (isObject(list[i])) addVendor(found, list[i], `${path}[${i}]`, provider, below)
}

/** Number of last chunks that are searched for notes. */
const NOTED_CHUNKS = 16

/** Adds what the last chunks tell beside their usage: the AI SDK's notes about the vendor, and llama.cpp's timings. */
function addNotes(
  found: FoundUsage[],
  list: readonly JsonValue[],
  path: string,
  provider: string | undefined,
): void {
  for (let i = list.length - 1; i >= Math.max(0, list.length - NOTED_CHUNKS); i--) {
    const part = list[i]
    if (!isObject(part)) continue
    const { providerMetadata: notes, timings } = part
    if (isObject(notes)) addVendor(found, notes, `${path}[${i}].providerMetadata`, provider, MAX_DEPTH - 2)
    if (isObject(timings)) addMixed(found, timings, `${path}[${i}].timings`, provider)
    if (isObject(notes) || isObject(timings)) return
  }
}

/** Reads the last item of a list. */
function addLast(
  found: FoundUsage[],
  answer: JsonObject,
  key: (typeof LISTS)[number],
  path: string,
  provider: string | undefined,
  depth: number,
): void {
  const list = answer[key]
  const last = Array.isArray(list) ? list.at(-1) : undefined
  if (!Array.isArray(list) || !isObject(last)) return
  const at = `${path}.${key}[${list.length - 1}]`
  const name = key === 'replies' ? IN_REPLIES.find((it) => last[it] !== undefined) : undefined
  if (name !== undefined) addVendor(found, last[name], `${at}.${name}`, provider, depth + 1)
  else if (key !== 'replies') addVendor(found, last, at, provider, depth + 1)
}

function addOwnCounts(
  found: FoundUsage[],
  own: JsonObject,
  path: string,
  provider: string | undefined,
): void {
  const reading = readUsage(own, path, provider)
  if (reading.isKnown || reading.unread.length > 0) found.push({ reading, path, source: 'vendor' })
}

function addFirstGeneration(
  found: FoundUsage[],
  answer: JsonObject,
  path: string,
  provider: string | undefined,
  depth: number,
): void {
  const list = answer['generations']
  const row = Array.isArray(list) ? list[0] : undefined
  const first = Array.isArray(row) ? row[0] : row
  if (!isObject(first)) return
  addVendor(found, first, `${path}.generations[0]${Array.isArray(row) ? '[0]' : ''}`, provider, depth + 1)
}

function addUsage(
  found: FoundUsage[],
  value: JsonObject,
  path: string,
  provider: string | undefined,
  answer: JsonObject,
): void {
  if (path.endsWith('usage_metadata') && OUR_NAMES.some((name) => name in value)) {
    if (!found.some((it) => it.path === path)) found.push(clientUsage(value, path, provider))
    return
  }
  const known = readUsage(value, path, provider)
  const isOther = known.isKnown || known.isCut || !isByModel(value)
  const reading = isOther ? known : readUsageByModel(value, path, provider)
  if (isPicture(answer)) addPictureTokens(reading)
  const source = path.endsWith('estimatedTokenUsage') ? 'estimate' : 'vendor'
  addReading(found, { reading, path, source }, provider)
}

/** Adds what a place says, and the further usage objects in it. */
function addReading(found: FoundUsage[], place: FoundUsage, provider: string | undefined): void {
  found.push(place)
  for (const { value, path } of place.reading.nested)
    found.push({ reading: readUsage(value, path, provider), path, source: place.source })
}

/** Whether all keys of a usage object are models, as in DSPy's. */
function isByModel(value: JsonObject): boolean {
  const parts = Object.values(value)
  return (
    parts.length > 0 && parts.length <= MOST_SEARCHED && parts.every((it) => isObject(it) && hasSides(it))
  )
}

function hasSides(value: JsonObject): boolean {
  return ['prompt_tokens', 'input_tokens', 'inputTokens'].some((name) => typeof value[name] === 'number')
}

const INNER_KEYS = [...USAGE_KEYS, 'accumulated_usage', 'accumulatedUsage'] as const

/** Numbers without rows are not reported here, because the object may have any numbers. */
function addMixed(found: FoundUsage[], value: JsonObject, path: string, provider: string | undefined): void {
  const key = INNER_KEYS.find((name) => isObject(value[name]))
  const inner = key === undefined ? value : (value[key] as JsonObject)
  const at = key === undefined ? path : `${path}.${key}`
  const reading = readUsage(inner, at, provider)
  if (!reading.isKnown) return
  reading.unread = []
  found.push({ reading, path: at, source: 'vendor' })
}
