import type { Readable } from 'node:stream'
import { createPauses } from './pauses.ts'
import { shareOfTime } from './share-of-time.ts'

/** Maximum characters of a line. The rest of a longer line is dropped as it arrives. */
export const MAX_LINE_CHARS = 4_000

const BREAK = /[\r\n]/

/**
 * Calls `each` with every line of a stream that is not blank, until its end; the last line needs no line break. Holds at
 * most MAX_LINE_CHARS, however long a line is. A process that prints faster than its lines are handled has to wait.
 * Null: the process could not be started.
 */
export function eachLine(stream: Readable | null, each: (line: string) => void): void {
  if (!stream) return
  let held = ''
  const add = (text: string): void => {
    held += text.slice(0, MAX_LINE_CHARS - held.length)
  }
  const pass = (): void => {
    const line = held
    held = ''
    if (line.trim() !== '') each(line)
  }
  stream.setEncoding('utf8')
  const spend = shareOfTime(createPauses(stream))
  stream.on('data', (text: string) =>
    spend(() => {
      const [first = '', ...further] = text.split(BREAK)
      add(first)
      for (const line of further) {
        pass()
        add(line)
      }
    }),
  )
  stream.once('end', pass)
}
