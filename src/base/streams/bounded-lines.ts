import type { Readable } from 'node:stream'
import { createPauses } from './pauses.ts'
import { shareOfTime } from './share-of-time.ts'

/** Maximum characters of a line. The rest of a longer line is dropped as it arrives. */
export const MAX_LINE_CHARS = 4_000
/** A chunk may have 65,536 lines. After this number of them, other work of the thread has its turn. */
const LINES_PER_TURN = 256
/** The part of the thread's time that the lines of one stream may take: several processes may print at once. */
const SHARE = 0.1

/**
 * Calls `each` with every line of a stream that is not blank, until its end; the last line needs no line break. Holds at
 * most MAX_LINE_CHARS, however long a line is. A process that prints faster than its lines are handled has to wait. The
 * lines of a stream that is destroyed before its end are dropped. Null: the process could not be started.
 */
export function eachLine(stream: Readable | null, each: (line: string) => void): void {
  if (!stream) return
  const pauses = createPauses(stream)
  const spend = shareOfTime(pauses, SHARE)
  let held = ''
  /** The text that has arrived, and the position up to which it is handled. */
  let [text, at] = ['', 0]
  let hasEnded = false
  const pass = (): void => {
    const line = held
    held = ''
    if (line.trim() !== '') each(line)
  }
  const handle = (): void => {
    if (stream.readableAborted) return
    const rest_ms = spend(() => {
      for (let lines = 0; lines < LINES_PER_TURN && at < text.length; lines++) {
        const end = endOfLine(text, at)
        held += text.slice(at, Math.min(end, at + MAX_LINE_CHARS - held.length))
        at = end + 1
        if (end < text.length) pass()
      }
    })
    const isLeft = at < text.length
    pauses.set('lines', isLeft)
    if (isLeft) setTimeout(handle, rest_ms)
    else if (hasEnded) pass()
  }
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    ;[text, at] = [text.slice(at) + chunk, 0]
    handle()
  })
  stream.once('end', () => {
    hasEnded = true
    // A stream can end while lines of its last chunk wait for their turn.
    if (at >= text.length) pass()
  })
}

/** The position of the next line break; the length of the text if there is none. */
function endOfLine(text: string, at: number): number {
  const pattern = /[\r\n]/g
  pattern.lastIndex = at
  return pattern.exec(text)?.index ?? text.length
}
