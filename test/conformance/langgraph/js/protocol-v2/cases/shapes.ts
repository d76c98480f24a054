import type { PassedEvent } from '../../../../../support/runs/streams/recording-proxy.ts'

/** The content of an event, without ids, numbers and times, which differ between servers. */
export interface Shape {
  method: string
  namespace: string
  node: string | undefined
  data: unknown
}

const IDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b|<[a-z]+-\d+>/g

/** The value with `#` in place of every id. */
export function scrubbed<T>(value: T): T {
  return JSON.parse(JSON.stringify(value).replace(IDS, '#')) as T
}

/** Each event once, in order of `seq`. */
export function shapesOf(events: readonly PassedEvent[]): Shape[] {
  const once = new Map(events.map(({ event }) => [event.event_id, event]))
  return [...once.values()]
    .toSorted((a, b) => a.seq - b.seq)
    .map(({ method, params }) => ({
      method,
      namespace: scrubbed(params.namespace.join('|')),
      node: params.node,
      data: scrubbed(params.data),
    }))
}

/** The places where `found` differs from `wanted`. Fields that only `found` has are allowed. */
export function lacks(wanted: unknown, found: unknown, path = ''): string[] {
  if (wanted === undefined) return []
  if (Array.isArray(wanted)) {
    if (!Array.isArray(found) || found.length !== wanted.length)
      return [`${path}: ${wanted.length} items are wanted, found ${JSON.stringify(found)}`]
    return wanted.flatMap((item, at) => lacks(item, found[at], `${path}[${at}]`))
  }
  if (typeof wanted === 'object' && wanted !== null) {
    if (typeof found !== 'object' || found === null) return [`${path}: found ${JSON.stringify(found)}`]
    return Object.entries(wanted).flatMap(([key, value]) =>
      lacks(value, (found as Record<string, unknown>)[key], `${path}.${key}`),
    )
  }
  return Object.is(wanted, found)
    ? []
    : [`${path}: ${JSON.stringify(wanted)} is wanted, found ${JSON.stringify(found)}`]
}
