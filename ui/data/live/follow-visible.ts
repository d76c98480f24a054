import { readEvents, type ServerEvent } from '../../api/server-events.ts'
import { followLive, type FollowParts } from './follow.ts'
import { pause } from './pause.ts'

/** The server sends a heartbeat every 5 s; a connection without data for longer than this has broken. */
const SILENCE_MS = 20_000

/** A stream to follow, with the functions that get its events and its state. */
export interface VisibleStream extends Pick<FollowParts, 'onEvent' | 'onState'> {
  /** Opens the stream; called again after each break. */
  request(signal: AbortSignal): Promise<Response>
}

/** Follows a stream while the tab is visible, until the returned function is called. */
export function followVisible({ request, onEvent, onState }: VisibleStream): () => void {
  let gone = new AbortController()
  const follow = (): void => {
    if (document.visibilityState !== 'visible') return
    gone = new AbortController()
    void followLive({
      connect: (signal) => eventsOf(request, signal),
      onEvent,
      onState,
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
}

/** The events of a stream. The request ends with the signal, or when nothing, not even a heartbeat, arrives for 20 s. */
async function* eventsOf(
  request: VisibleStream['request'],
  signal: AbortSignal,
): AsyncGenerator<ServerEvent> {
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), SILENCE_MS)
  const onPiece = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => silence.abort(), SILENCE_MS)
  }
  try {
    const { body } = await request(AbortSignal.any([signal, silence.signal]))
    if (body !== null) yield* readEvents(body, onPiece)
  } finally {
    clearTimeout(timer)
  }
}
