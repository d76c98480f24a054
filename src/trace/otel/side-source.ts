import type { JsonObject, JsonValue } from '../../schema/json.ts'
import type { SpokenEvents } from './map-events.ts'
import type { SpanView } from './span-view.ts'

/** One side of a TraceRun, put together from a span's attributes, events and logs. */
export interface MappedSide {
  /** An object: what is none was put under `input` or `output`, as the clients' own wrapping does. */
  value: JsonObject
  /** Name of the processor that knows this shape; absent where the value shows its format itself. */
  dialect?: string
}

/** What a source found: a whole side, or a value that still needs wrapping. */
export type Found = { side: MappedSide } | { value: JsonValue } | undefined
/** Finds a side in one place, or nothing. */
export type Source = (context: SideContext) => Found

/** What a source looks at. */
export interface SideContext {
  view: SpanView
  runType: string
  events: SpokenEvents
}

/** A side of messages; nothing where there are none. */
export function messages(list: readonly JsonObject[], dialect = 'otel-genai'): Found {
  return list.length === 0 ? undefined : { side: { value: { messages: [...list] }, dialect } }
}

/** A value that holds something: empty objects, lists and strings stand for nothing. */
export function filled(value: JsonValue | undefined): Found {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'object' && Object.keys(value).length === 0) return undefined
  return { value }
}
