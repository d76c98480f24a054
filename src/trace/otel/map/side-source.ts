import type { JsonObject, JsonValue } from '../../../schema/json.ts'
import type { SpokenEvents } from './events.ts'
import type { SpanView } from '../span/view.ts'

/** One side of a TraceRun, built from a span's attributes, events and logs. */
export interface MappedSide {
  /** An object; any other value is put under `input` or `output`, as clients do. */
  value: JsonObject
  /** Name of the processor for this shape; absent if the value itself shows its format. */
  dialect?: string
}

/** The result of a source: a whole side, or a value that still needs wrapping. */
export type Found = { side: MappedSide } | { value: JsonValue } | undefined

/** Finds a side in one place; undefined if it is not there. */
export type Source = (context: SideContext) => Found

/** The input of a source. */
export interface SideContext {
  view: SpanView
  runType: string
  events: SpokenEvents
}

/** A side of messages; undefined for an empty list. */
export function messages(list: readonly JsonObject[], dialect = 'otel-genai'): Found {
  return list.length === 0 ? undefined : { side: { value: { messages: [...list] }, dialect } }
}

/** The value if it has content; undefined for empty objects, lists and strings. */
export function filled(value: JsonValue | undefined): Found {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'object' && Object.keys(value).length === 0) return undefined
  return { value }
}
