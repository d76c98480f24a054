import { useEffect, useState } from 'react'
import { callRaw, type Reply } from '../../api/call.ts'
import type { LiveState } from '../live/follow.ts'
import { followVisible } from '../live/follow-visible.ts'

export type LogLine = Reply<'GET /api/v1/deployments/{id}/logs'>['logs'][number]

export interface ShownLines {
  id: string
  /** Empty for lines of all kinds. */
  kinds: readonly LogLine['kind'][]
  /** Text that the lines contain; '' for all lines. */
  text: string
}

/** The lines of a log, which are updated as new lines arrive. */
export interface LiveLog {
  /** The newest 2,000; undefined until the server has answered. */
  lines: readonly LogLine[] | undefined
  state: LiveState
}

const KEPT_LINES = 2000
const FIRST_LINES = 1000
/** Lines that arrive within this time are drawn together. */
const DRAW_MS = 100

/** Follows the lines of a log; after a break, continues after the last line. */
function followLog(
  { id, kinds, text }: Omit<ShownLines, 'kinds'> & { kinds: string },
  show: (change: (before: LiveLog) => LiveLog) => void,
): () => void {
  let last: string | undefined
  let come: LogLine[] | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const draw = (): void => {
    timer = undefined
    const added = come ?? []
    come = undefined
    show(({ lines = [], state }) => ({ lines: [...lines, ...added].slice(-KEPT_LINES), state }))
  }
  const leave = followVisible({
    request: (signal) =>
      callRaw('GET /api/v1/deployments/{id}/logs', {
        params: { id },
        query: {
          kind: kinds === '' ? [] : kinds.split(','),
          query: text || undefined,
          limit: FIRST_LINES,
          after: last,
        },
        signal,
        accept: 'text/event-stream',
      }),
    onEvent({ event, data }) {
      come ??= []
      if (event === 'log') {
        const line = JSON.parse(data) as LogLine
        last = line.id
        come.push(line)
      }
      timer ??= setTimeout(draw, DRAW_MS)
    },
    onState: (state) => show(({ lines }) => ({ lines, state })),
  })
  return () => {
    leave()
    clearTimeout(timer)
  }
}

/**
 * The lines of a log as they arrive, the newest last. For another selection of lines, the component needs another
 * `key`, because its state keeps the lines read so far.
 */
export function useLog({ id, kinds, text }: ShownLines): LiveLog {
  const [log, setLog] = useState<LiveLog>({ lines: undefined, state: 'connecting' })
  const wanted = kinds.join()
  useEffect(() => {
    return followLog({ id, kinds: wanted, text }, setLog)
  }, [id, wanted, text])
  return log
}
