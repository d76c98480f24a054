import { type JsonObject, type JsonValue, isObject } from '../../schema/json.ts'
import { joinPath } from '../../schema/issue.ts'
import type { UsageMetadata } from '../../schema/types.gen.ts'
import { fromOllama, fromVendor, inOurNames, isGemini, isOllama } from './vendor-usage.ts'

/** Counts of a message format, in the shape of usage_metadata. */
export type ReportedUsage = UsageMetadata

/** The source of a side's count. */
export type UsageSource = 'client' | 'vendor' | 'estimate'

/** The counts in one place of a TraceRun, in the shape of usage_metadata. */
export interface FoundUsage {
  value: JsonObject
  path: string
  source: UsageSource
}

/** Every source of counts in order of precedence, lazily: usually the first one is enough. */
export function* findUsageSources(
  outputs: JsonValue | undefined,
  metadata: JsonObject,
  format: ReportedUsage | undefined,
  span: readonly FoundUsage[],
): Generator<FoundUsage> {
  yield* span
  const out = isObject(outputs) ? outputs : undefined
  if (isObject(out?.['usage_metadata']))
    yield { value: inOurNames(out['usage_metadata']), path: 'outputs.usage_metadata', source: 'client' }
  if (isObject(metadata['usage_metadata']))
    yield { value: metadata['usage_metadata'], path: 'extra.metadata.usage_metadata', source: 'client' }
  if (out) {
    yield* nestedUsage(out)
    yield* generationUsage(out)
  }
  if (format) yield { value: format as JsonObject, path: 'outputs', source: 'vendor' }
  if (out) yield* vendorUsage(out, 'outputs')
}

/** Step 3: `outputs.<key>.usage_metadata`, also inside a LangChain constructor's kwargs or a list's messages. */
function* nestedUsage(out: JsonObject): Generator<FoundUsage> {
  for (const [key, entry] of Object.entries(out).slice(0, 50)) {
    const candidates = Array.isArray(entry)
      ? entry
          .slice(-3)
          .map((item, i, all) => [item, `outputs.${key}[${entry.length - all.length + i}]`] as const)
      : [[entry, `outputs.${key}`] as const]
    for (const [item, path] of candidates) {
      const found = messageUsage(item, path)
      if (found) yield found
    }
  }
}

/** Step 4: the first of `generations[][].message` that has usage. */
function* generationUsage(out: JsonObject): Generator<FoundUsage> {
  if (!Array.isArray(out['generations'])) return
  for (const [i, row] of out['generations'].slice(0, 10).entries()) {
    for (const [k, generation] of (Array.isArray(row) ? row.slice(0, 10) : [row]).entries()) {
      if (!isObject(generation)) continue
      const path = Array.isArray(row)
        ? `outputs.generations[${i}][${k}].message`
        : `outputs.generations[${i}].message`
      const found = messageUsage(generation['message'], path)
      if (found) return yield found
    }
  }
}

function messageUsage(item: JsonValue | undefined, path: string): FoundUsage | undefined {
  if (!isObject(item)) return undefined
  if (isObject(item['usage_metadata']))
    return { value: item['usage_metadata'], path: `${path}.usage_metadata`, source: 'client' }
  const kwargs = item['kwargs']
  if (isObject(kwargs) && isObject(kwargs['usage_metadata']))
    return { value: kwargs['usage_metadata'], path: `${path}.kwargs.usage_metadata`, source: 'client' }
  return undefined
}

/** Places where vendors put raw usage, relative to the outputs. */
const VENDOR_PLACES: readonly (readonly string[])[] = [
  ['usage'],
  ['usage', 'tokens'],
  ['llmOutput', 'tokenUsage'],
  ['llm_output', 'token_usage'],
  ['llm_output', 'usage'],
  ['usageMetadata'],
  ['response_metadata', 'token_usage'],
  ['response_metadata', 'tokenUsage'],
  ['response_metadata', 'usage'],
  ['response_metadata'],
  ['generation_info'],
  ['generationInfo'],
  ['llmOutput', 'estimatedTokenUsage'],
]

/** Keys that may wrap a vendor's response. */
const WRAPPERS = ['output', 'outputs', 'message', 'response', 'kwargs'] as const
/** Number of last chunks of a stream to search for counts. */
const LAST_CHUNKS = 3

/**
 * Step 5: raw vendor usage in a response, also inside wrappers, LangChain's constructors, the first of its generations
 * and the chunks of a stream. `path` is the path of the response.
 */
export function* vendorUsage(answer: JsonValue, path: string, depth = 0): Generator<FoundUsage> {
  if (Array.isArray(answer)) return yield* chunkUsage(answer, path, depth)
  if (!isObject(answer)) return
  // Ollama's counts are next to its message.
  if (isOllama(answer)) yield { value: fromOllama(answer), path, source: 'vendor' }
  const own = answer['usage_metadata']
  if (isObject(own) && isGemini(own))
    yield { value: inOurNames(own), path: joinPath(path, 'usage_metadata'), source: 'vendor' }
  for (const place of VENDOR_PLACES) {
    let at: JsonValue | undefined = answer
    for (const key of place) at = isObject(at) ? at[key] : undefined
    const value = isObject(at) ? fromVendor(at) : undefined
    const source = place[1] === 'estimatedTokenUsage' ? 'estimate' : 'vendor'
    if (value) yield { value, path: joinPath(path, place.join('.')), source }
  }
  if (depth > 1) return
  for (const key of WRAPPERS) yield* vendorUsage(answer[key] ?? null, `${path}.${key}`, depth + 1)
  const row = Array.isArray(answer['generations']) ? answer['generations'][0] : undefined
  const first = Array.isArray(row) ? row[0] : row
  if (!isObject(first)) return
  const place = `${path}.generations[0]${Array.isArray(row) ? '[0]' : ''}`
  yield* vendorUsage(first, place, 2)
  yield* vendorUsage(first['message'] ?? null, `${place}.message`, depth + 1)
}

function* chunkUsage(chunks: readonly JsonValue[], path: string, depth: number): Generator<FoundUsage> {
  const from = Math.max(0, chunks.length - LAST_CHUNKS)
  for (let i = chunks.length - 1; i >= from; i--)
    if (isObject(chunks[i])) yield* vendorUsage(chunks[i]!, `${path}[${i}]`, Math.max(depth, 1) + 1)
}
