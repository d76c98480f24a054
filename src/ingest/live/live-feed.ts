import { ChangeCollector, type RunChange, type RunChanges } from './run-changes.ts'

/**
 * Sends changes to other servers of the same stores, and receives the changes of other servers. Changes may be lost.
 */
export interface LivePeers {
  send(changes: RunChanges): void
  /** `missed` is called when changes of others may have been lost. */
  listen(receive: (changes: RunChanges) => void, missed: () => void): void
  close(): Promise<void>
}

/**
 * Receives changes of a workspace. `more`: further changes were not listed, in this project or, if it is undefined,
 * in any project.
 */
export interface LiveListener {
  changed(run: RunChange): void
  more(project_id: string | undefined): void
}

/** Changes of TraceRuns, as soon as they can be read. */
export interface LiveFeed {
  /** Notifies the listeners of this server, and other servers. */
  publish(changes: RunChanges): void
  /** Adds a listener; the returned function removes it. */
  listen(workspace_id: string, listener: LiveListener): () => void
  close(): Promise<void>
}

/**
 * Maximum number of changes that are sent to other servers at a time; for further changes only the projects are sent.
 */
const MAX_FOR_PEERS = 500
/** Interval of sending changes to other servers. */
const PEERS_EVERY_MS = 250

/** `peers`: undefined for the only server that writes to the store. */
export function createLiveFeed(peers: LivePeers | undefined): LiveFeed {
  const listeners = new Map<string, Set<LiveListener>>()
  const forPeers = new ChangeCollector(MAX_FOR_PEERS)
  let timer: NodeJS.Timeout | undefined

  function publish({ runs, more_in }: RunChanges): void {
    for (const run of runs)
      for (const listener of listeners.get(run.workspace_id) ?? []) listener.changed(run)
    for (const project of more_in) {
      const [workspace_id = '', project_id] = project.split('/')
      for (const listener of listeners.get(workspace_id) ?? []) listener.more(project_id)
    }
  }
  function tellPeers(): void {
    timer = undefined
    if (!forPeers.isEmpty) peers?.send(forPeers.take())
  }
  peers?.listen(publish, () => {
    for (const some of listeners.values()) for (const listener of some) listener.more(undefined)
  })

  return {
    publish(changes) {
      publish(changes)
      if (peers === undefined) return
      forPeers.addAll(changes)
      timer ??= setTimeout(tellPeers, PEERS_EVERY_MS).unref()
    },
    listen(workspace_id, listener) {
      const mine = listeners.get(workspace_id) ?? new Set()
      listeners.set(workspace_id, mine.add(listener))
      return () => {
        mine.delete(listener)
        if (mine.size === 0 && listeners.get(workspace_id) === mine) listeners.delete(workspace_id)
      }
    },
    async close() {
      clearTimeout(timer)
      await peers?.close()
    },
  }
}
