import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { callRaw } from '../../api/call.ts'
import type { IngestHealthRead } from '../../api/platform.gen.ts'
import type { ServerEvent } from '../../api/server-events.ts'
import type { LiveState } from './follow.ts'
import { followVisible } from './follow-visible.ts'

export interface RunChange {
  run_id: string
  trace_id: string
  project_id: string
  is_root: boolean
  status: string
}

/** Called for events of the stream. */
export interface LiveListeners {
  /** The stream has begun. Earlier changes are not sent, so lists must be read again. */
  open?(): void
  /** `more`: further runs have changed that are not listed. */
  runs?(runs: readonly RunChange[], more: boolean): void
  ingest?(health: IngestHealthRead): void
  /** A deployment or a revision has changed. */
  deployments?(): void
}

function dispatch({ open, runs, ingest, deployments }: LiveListeners, { event, data }: ServerEvent): void {
  if (event === 'open') open?.()
  if (event === 'deployments') deployments?.()
  if (event === 'ingest') ingest?.(JSON.parse(data) as IngestHealthRead)
  if (event !== 'runs') return
  const changes = JSON.parse(data) as { runs: RunChange[]; more: boolean }
  runs?.(changes.runs, changes.more)
}

/**
 * Follows live changes while the tab is visible. A page calls it once, with all of its topics (`project:ID`, `trace:ID`,
 * `ingest`, `deployments`), because browsers open only six connections to a server over HTTP/1.1.
 */
export function useLive(topics: readonly string[], listeners: LiveListeners): LiveState {
  const [state, setState] = useState<LiveState>('connecting')
  const onEvent = useEffectEvent((event: ServerEvent) => dispatch(listeners, event))
  const key = topics.join(',')
  useEffect(() => {
    if (key === '') return
    return followVisible({
      request: (signal) => callRaw('GET /api/v1/live', { query: { topic: key.split(',') }, signal }),
      onEvent: (event) => onEvent(event),
      onState: setState,
    })
  }, [key])
  return state
}

/** Pause between a change and the read that it causes. The read also covers the changes during the pause. */
const REFRESH_MS = 400

/** Calls `refresh` soon after the returned function is called, at most once in `pause_ms`. */
export function useSoon(refresh: () => void, pause_ms = REFRESH_MS): () => void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  return () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      refresh()
    }, pause_ms)
  }
}

/** Calls `refresh` after changes of the topics, at most once in `pause_ms`. */
export function useLiveRefresh(topics: readonly string[], refresh: () => void, pause_ms?: number): LiveState {
  const soon = useSoon(refresh, pause_ms)
  return useLive(topics, { open: soon, runs: soon, deployments: soon })
}
