import { linuxPriorities, linuxProcessors } from './linux-processes.ts'
import { type WatchedProcess, watchMemory } from './memory-watch.ts'
import { watchPriority } from './priority-watch.ts'
import { watchProcessors } from './processor-watch.ts'

/** The bounds of a host. Without a bound of memory, hosts have the priority of the server. */
interface HostBounds {
  maxBytes?: number
  maxProcessors?: number
}

/** Holds hosts to their bounds, and lets busy ones yield to others. Returns a function that stops the watches. */
export function watchHosts(
  hosts: () => readonly WatchedProcess[],
  { maxBytes, maxProcessors }: HostBounds,
): () => void {
  const ends = [
    ...(maxBytes === undefined
      ? []
      : [watchMemory(hosts, maxBytes), watchPriority(hosts, linuxPriorities())]),
    ...(maxProcessors === undefined ? [] : [watchProcessors(hosts, maxProcessors, linuxProcessors())]),
  ]
  return () => {
    for (const end of ends) end()
  }
}
