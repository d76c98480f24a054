import type { ProtocolEvent } from './protocol-event.ts'

/** Selects the events of a thread that a client receives. */
export interface EventFilter {
  channels: readonly string[]
  /** Empty: all. */
  namespaces: readonly (readonly string[])[]
  /** Maximum number of levels below one of `namespaces`; undefined: without limit. */
  depth?: number | undefined
}

const CHANNELS: ReadonlySet<string> = new Set([
  'values',
  'updates',
  'checkpoints',
  'messages',
  'tools',
  'tasks',
  'custom',
  'lifecycle',
  'input',
])

export const EVERYTHING: EventFilter = { channels: [...CHANNELS], namespaces: [] }

export function isChannel(name: string): boolean {
  return CHANNELS.has(name) || name.startsWith('custom:')
}

/** Whether the stream shows the event (V-25). */
export function passes(filter: EventFilter, event: ProtocolEvent): boolean {
  return inChannels(filter, event) && inNamespaces(filter, event)
}

/** Whether a stream with this filter includes interrupts. */
export function showsInput({ channels }: EventFilter): boolean {
  return channels.includes('input')
}

/**
 * Whether the stream shows only the lifecycle and the interrupts of runs. Clients open such a stream before they start
 * a run (V-29).
 */
export function isLifecycleOnly({ channels, namespaces }: EventFilter): boolean {
  const isExact = channels.length === 2 && channels.includes('lifecycle') && channels.includes('input')
  return isExact && namespaces.length === 0
}

export function namesSubgraphs({ namespaces }: EventFilter): boolean {
  return namespaces.some((one) => one.length > 0)
}

function inChannels({ channels }: EventFilter, { method, name }: ProtocolEvent): boolean {
  const channel = method.startsWith('input.') ? 'input' : method
  if (channels.includes(channel)) return true
  return name !== undefined && channels.includes(`custom:${name}`)
}

/**
 * Whether the event lies in one of the namespaces of the filter; a filter without namespaces includes all. Events of
 * the root are included only if the filter names the root.
 */
function inNamespaces({ namespaces, depth }: EventFilter, { namespace }: ProtocolEvent): boolean {
  if (namespaces.length === 0) return true
  return namespaces.some((prefix) => {
    if (depth !== undefined && namespace.length - prefix.length > depth) return false
    return prefix.every((segment, at) => matches(segment, namespace[at]))
  })
}

/** Whether the event lies in a subgraph that the filter names. */
export function inNamedSubgraph(filter: EventFilter, event: ProtocolEvent): boolean {
  const namespaces = filter.namespaces.filter((one) => one.length > 0)
  return namesSubgraphs(filter) && inNamespaces({ ...filter, namespaces }, event)
}

/** A segment of the filter without `:` matches all tasks of that name. */
function matches(wanted: string, segment: string | undefined): boolean {
  if (segment === undefined) return false
  if (wanted === segment) return true
  return !wanted.includes(':') && segment.split(':', 1)[0] === wanted
}
