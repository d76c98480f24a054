import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { callRaw } from '../../api/call.ts'
import type { IngestHealthRead } from '../../api/platform.gen.ts'
import { readEvents, type ServerEvent } from '../../api/server-events.ts'
import { followLive, type LiveState } from './follow.ts'

/** The server sends a heartbeat every 5 s; a connection that is silent for longer than this is gone. */
const SILENCE_MS = 20_000

/** A run that has changed. */
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
}

function dispatch({ open, runs, ingest }: LiveListeners, { event, data }: ServerEvent): void {
  if (event === 'open') open?.()
  if (event === 'ingest') ingest?.(JSON.parse(data) as IngestHealthRead)
  if (event !== 'runs') return
  const changes = JSON.parse(data) as { runs: RunChange[]; more: boolean }
  runs?.(changes.runs, changes.more)
}

/** Opens `GET /live`. The request ends with the signal, or when nothing, not even a heartbeat, arrives for 20 s. */
async function* connectLive(topics: readonly string[], signal: AbortSignal): AsyncGenerator<ServerEvent> {
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), SILENCE_MS)
  const onPiece = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => silence.abort(), SILENCE_MS)
  }
  try {
    const sent = { query: { topic: topics }, signal: AbortSignal.any([signal, silence.signal]) }
    const { body } = await callRaw('GET /api/v1/live', sent)
    if (body !== null) yield* readEvents(body, onPiece)
  } finally {
    clearTimeout(timer)
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        resolve()
      },
      { once: true },
    )
  })
}

/**
 * Follows live changes while the tab is visible. A page calls it once, with all of its topics (`project:ID`, `trace:ID`,
 * `ingest`), because browsers open only six connections to a server over HTTP/1.1.
 */
export function useLive(topics: readonly string[], listeners: LiveListeners): LiveState {
  const [state, setState] = useState<LiveState>('connecting')
  const onEvent = useEffectEvent((event: ServerEvent) => dispatch(listeners, event))
  const key = topics.join(',')
  useEffect(() => {
    let gone = new AbortController()
    const follow = (): void => {
      if (document.visibilityState !== 'visible' || key === '') return
      gone = new AbortController()
      void followLive({
        connect: (signal) => connectLive(key.split(','), signal),
        onEvent: (event) => onEvent(event),
        onState: setState,
        pause,
        signal: gone.signal,
      })
    }
    const turned = (): void => {
      gone.abort()
      follow()
    }
    follow()
    document.addEventListener('visibilitychange', turned)
    return () => {
      gone.abort()
      document.removeEventListener('visibilitychange', turned)
    }
  }, [key])
  return state
}

/** Pause between a change and the read that it causes, which also serves changes that follow it closely. */
const REFRESH_MS = 400

/** Calls `refresh` after changes of the topics, at most every 400 ms. */
export function useLiveRefresh(topics: readonly string[], refresh: () => void): LiveState {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const soon = (): void => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      refresh()
    }, REFRESH_MS)
  }
  return useLive(topics, { open: soon, runs: soon })
}
