import { SourceMap, type SourceMapPayload } from 'node:module'

/** A place in code that runs, counted from 0 as the inspector does. */
export interface CodePlace {
  lineNumber: number
  columnNumber?: number
}

const INLINE = /^data:application\/json[^,]*;base64,/
/** Characters of a source map; a larger one is not read. */
const MAX_MAP_LENGTH = 16 << 20

/**
 * The line of the source file, from 1: compiled TypeScript has other lines than its file, and contains the map between
 * both. Without such a map it is the line of the code that runs.
 */
export function sourceLine({ lineNumber, columnNumber = 0 }: CodePlace, mapUrl = ''): number {
  const [start] = INLINE.exec(mapUrl) ?? []
  if (start === undefined || mapUrl.length > MAX_MAP_LENGTH) return lineNumber + 1
  try {
    const payload = JSON.parse(
      Buffer.from(mapUrl.slice(start.length), 'base64').toString(),
    ) as SourceMapPayload
    const entry = new SourceMap(payload).findEntry(lineNumber, columnNumber)
    return ('originalLine' in entry ? entry.originalLine : lineNumber) + 1
  } catch {
    // The map is part of the user's code and may be anything.
    return lineNumber + 1
  }
}
