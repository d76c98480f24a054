import { withoutOwnKeys } from '../../schema/config-keys.ts'
import { parseExact } from '../../schema/exact-json.ts'
import type { JsonObject } from '../../schema/json.ts'
import { extracted, type ExtractPaths } from './extract-paths.ts'
import type { Thread } from '../model.ts'
import { pickFields } from '../lists/pick-fields.ts'

export interface ThreadView {
  /** Includes the field `ttl`. */
  ttl?: boolean
  /** The fields to return; all if empty. */
  select?: readonly string[]
  extract?: ExtractPaths
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}

/** All fields except the values. */
function headOf(thread: Thread): JsonObject {
  const { thread_id, metadata, status, config, interrupts, error } = thread
  return {
    thread_id,
    created_at: isoTime(thread.created_at),
    updated_at: isoTime(thread.updated_at),
    state_updated_at: isoTime(thread.state_updated_at),
    metadata,
    status,
    config: withoutOwnKeys(config),
    interrupts,
    error: error && { ...error },
  }
}

function ttlOf({ ttl }: Thread): JsonObject | null {
  if (ttl === null) return null
  const { strategy, ttl_minutes, expires_at } = ttl
  return { strategy, ttl_minutes, expires_at: expires_at === null ? null : isoTime(expires_at) }
}

/** A thread as JSON text; the text of its values is inserted without parsing it. */
export function threadText(thread: Thread, view: ThreadView = {}): string {
  const { select = [], extract = [] } = view
  const head = headOf(thread)
  const values = thread.values_json ?? 'null'
  const shown: JsonObject = {
    ...pickFields(head, select),
    ...((view.ttl === true || select.includes('ttl')) && { ttl: ttlOf(thread) }),
  }
  if (extract.length > 0) {
    // Values are parsed only for a path into them.
    const needsValues = extract.some(([, [first]]) => first === 'values')
    const record = needsValues ? { ...head, values: parseExact(values) } : head
    shown['extracted'] = extracted(record, extract)
  }
  const text = JSON.stringify(shown)
  if (select.length > 0 && !select.includes('values')) return text
  return `${text.slice(0, -1)}${text === '{}' ? '' : ','}"values":${values}}`
}
