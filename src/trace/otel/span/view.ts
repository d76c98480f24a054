import { type JsonObject, type JsonValue, isObject, text } from '../../../schema/json.ts'
import { remember } from '../../json/known-names.ts'
import { parseLiteral } from './python-literal.ts'
import type { OtelSpan } from './span.ts'

/** A span with its attributes indexed once. */
export interface SpanView {
  span: OtelSpan
  /** The attribute's value; null counts as absent. */
  get(key: string): JsonValue | undefined
  /** The value of the first of `keys` with a non-empty string. */
  text(...keys: string[]): string | undefined
  /** The value of the first of `keys` with a finite number, which may be text. */
  number(...keys: string[]): number | undefined
  /** The value of the first of `keys` that is present; text that contains JSON or a Python literal is parsed. */
  json(...keys: string[]): JsonValue | undefined
  /** The attributes of a family, by the text after `<family>.`. */
  group(family: Family): readonly Entry[]
}

/** The key after the family's prefix, and the value. */
export type Entry = readonly [rest: string, value: JsonValue]

/** Prefixes under which senders flatten lists and objects. */
const FAMILIES = [
  'gen_ai.prompt',
  'gen_ai.completion',
  'gen_ai.request',
  'llm.input_messages',
  'llm.output_messages',
  'llm.prompts',
  'llm.completions',
  'llm.choices',
  'llm.tools',
  'llm.request.functions',
  'retrieval.documents',
  'reranker.input_documents',
  'reranker.output_documents',
  'embedding.embeddings',
  'langsmith.metadata',
  'traceloop.association.properties',
  'ai.telemetry.metadata',
  'ai.settings',
  'braintrust.metrics',
  'langfuse.trace.metadata',
  'langfuse.observation.metadata',
] as const
export type Family = (typeof FAMILIES)[number]

const KNOWN: ReadonlySet<string> = new Set(FAMILIES)
const MOST_SEGMENTS = 3
/** Keys with more levels than this stay flat. */
const MAX_DEPTH = 24

export function viewSpan(span: OtelSpan): SpanView {
  const { attributes } = span
  let groups: Map<string, Entry[]> | undefined
  let parsed: Map<string, JsonValue> | undefined
  const get = (key: string): JsonValue | undefined =>
    Object.hasOwn(attributes, key) ? (attributes[key] ?? undefined) : undefined
  return {
    span,
    get,
    text(...keys) {
      for (const key of keys) {
        const found = text(get(key))
        if (found !== undefined) return found
      }
      return undefined
    },
    number(...keys) {
      for (const key of keys) {
        const found = asNumber(get(key))
        if (found !== undefined) return found
      }
      return undefined
    },
    json(...keys) {
      for (const key of keys) {
        const found = get(key)
        if (found === undefined) continue
        if (typeof found !== 'string') return found
        let value = parsed?.get(key)
        if (value === undefined) {
          value = readJson(found)
          ;(parsed ??= new Map()).set(key, value)
        }
        return value
      }
      return undefined
    },
    group(family) {
      groups ??= groupFamilies(attributes)
      return groups.get(family) ?? []
    },
  }
}

function groupFamilies(attributes: JsonObject): Map<string, Entry[]> {
  const groups = new Map<string, Entry[]>()
  for (const key in attributes) {
    const value = attributes[key]
    if (value === null || value === undefined) continue
    let member = members.get(key)
    if (member === undefined) member = remember(members, key, memberOf(key))
    if (member === null) continue
    const entry: Entry = [member.rest, value]
    const group = groups.get(member.family)
    if (group) group.push(entry)
    else groups.set(member.family, [entry])
  }
  return groups
}

/** The family of a name, and the text after it. */
interface Member {
  family: string
  rest: string
}

/** What was found out about names; null for one that is in no family. Bounded by `remember`. */
const members = new Map<string, Member | null>()

function memberOf(key: string): Member | null {
  for (
    let dot = key.indexOf('.'), n = 1;
    dot > 0 && n <= MOST_SEGMENTS;
    dot = key.indexOf('.', dot + 1), n++
  ) {
    const family = key.slice(0, dot)
    if (KNOWN.has(family)) return { family, rest: key.slice(dot + 1) }
  }
  return null
}

/** The value as a finite number, also from text; undefined for any other value. */
export function asNumber(value: JsonValue | undefined): number | undefined {
  if (typeof value === 'string' && /^-?\d{1,17}(?:\.\d{1,20})?(?:e-?\d{1,3})?$/i.test(value))
    return Number(value)
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** Parses text that contains JSON or a Python literal; returns any other value unchanged. */
export function readJson(value: JsonValue): JsonValue {
  return typeof value === 'string' ? (parseLiteral(value) ?? value) : value
}

type Branch = Map<string, Branch | JsonValue>

/** Combines flat keys: `0.message.role` becomes `[{message: {role}}]`. Gaps in the numbers of a list are closed. */
export function unflatten(entries: readonly Entry[]): JsonValue {
  const root: Branch = new Map()
  for (const [key, value] of entries) {
    const segments = key.split('.', MAX_DEPTH)
    let at = root
    for (let i = 0; i < segments.length - 1; i++) {
      const next = at.get(segments[i]!)
      if (next instanceof Map) at = next
      else {
        const branch: Branch = new Map()
        at.set(segments[i]!, branch)
        at = branch
      }
    }
    const leaf = segments[segments.length - 1]!
    if (!(at.get(leaf) instanceof Map)) at.set(leaf, value)
  }
  return grow(root)
}

const INDEX = /^\d{1,9}$/

function grow(branch: Branch): JsonValue {
  const keys = [...branch.keys()]
  const child = (key: string): JsonValue => {
    const value = branch.get(key) ?? null
    return value instanceof Map ? grow(value) : value
  }
  if (keys.length > 0 && keys.every((key) => INDEX.test(key))) {
    return keys.sort((a, b) => Number(a) - Number(b)).map(child)
  }
  const out: JsonObject = {}
  for (const key of keys) if (key !== '__proto__') out[key] = child(key)
  return out
}

/** Expands dotted keys to nested objects: `{'message.role': …}` becomes `{message: {role: …}}`. */
export function nested(value: JsonValue, depth = 0): JsonValue {
  if (depth >= MAX_DEPTH) return value
  if (Array.isArray(value)) return value.map((item) => nested(item, depth + 1))
  if (!isObject(value)) return value
  const entries = Object.entries(value).flatMap(([key, it]): Entry[] =>
    it === undefined ? [] : [[key, nested(it, depth + 1)]],
  )
  return entries.some(([key]) => key.includes('.')) ? unflatten(entries) : Object.fromEntries(entries)
}

/** The numbered entries of a family as a list; entries without a number are left out. */
export function listOf(view: SpanView, family: Family): JsonValue[] {
  const numbered = view.group(family).filter(([rest]) => /^\d{1,9}(?:\.|$)/.test(rest))
  if (numbered.length === 0) return []
  const list = unflatten(numbered)
  return Array.isArray(list) ? list : []
}

/** The objects in a list, or a single object as a list; empty for any other value. */
export function objectsOf(value: JsonValue | undefined): JsonObject[] {
  if (isObject(value)) return [value]
  return Array.isArray(value) ? value.filter(isObject) : []
}
