import type { JsonValue } from '../../../schema/json.ts'
import type { SchemaTypes } from '../../../schema/types.gen.ts'
import { mapSpan } from '../map/span.ts'
import { mentionsModels } from '../map/web-span.ts'
import type { SpanRecord } from './span.ts'

export type SpanFilter = SchemaTypes['span-filter']

export interface ProjectFilters {
  project_id: string
  project_name: string
  filters: readonly SpanFilter[]
}

/** Whether one of the filters selects the span, and the span is not about models. */
export function isFilteredOut(span: SpanRecord, filters: readonly SpanFilter[]): boolean {
  return filters.some((filter) => selects(filter, span)) && !isAboutModels(span)
}

/** Whether a span is a call of a model or a tool, or has content of one. */
function isAboutModels(span: SpanRecord): boolean {
  if (mentionsModels(span)) return true
  const { run_type, usage } = mapSpan({ ...span, logs: [] }, { start: undefined, end: undefined })
  return run_type !== 'chain' || usage.length > 0
}

function selects({ scope, name, attribute, value }: SpanFilter, span: SpanRecord): boolean {
  if (scope !== undefined && !fits(scope, span.scope.name ?? '')) return false
  if (name !== undefined && !fits(name, span.name)) return false
  if (attribute === undefined) return true
  const found = Object.hasOwn(span.attributes, attribute) ? span.attributes[attribute] : undefined
  return found !== undefined && (value === undefined || fits(value, textOf(found)))
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Whether the text has the form of the pattern, in which `*` stands for any text. Linear for each `*`. */
function fits(pattern: string, text: string): boolean {
  const [first = '', ...others] = pattern.split('*')
  const last = others.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const part of others) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}
