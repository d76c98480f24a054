import { isDeeperThan } from '../../../base/text/json-depth.ts'
import { SourceMap, type SourceMapPayload } from 'node:module'

/** A place in the running code; line and column are counted from 0, as in the inspector. */
export interface CodePlace {
  lineNumber: number
  columnNumber?: number
}

const INLINE = /^data:application\/json[^,]*;base64,/
/** Maximum characters of a source map; a larger one is ignored. */
const MAX_MAP_LENGTH = 4 << 20
/** Maximum nesting of a source map. */
const MAX_DEPTH = 20

/**
 * The line in the source file, counted from 1. Compiled TypeScript contains a source map, which gives the line of the
 * source file. Without a map, returns the line of the running code.
 */
export function sourceLine({ lineNumber, columnNumber = 0 }: CodePlace, mapUrl = ''): number {
  const [start] = INLINE.exec(mapUrl) ?? []
  if (start === undefined || mapUrl.length > MAX_MAP_LENGTH) return lineNumber + 1
  try {
    const json = Buffer.from(mapUrl.slice(start.length), 'base64')
    if (isDeeperThan(MAX_DEPTH, json)) return lineNumber + 1
    const payload = JSON.parse(json.toString()) as SourceMapPayload
    const entry = new SourceMap(payload).findEntry(lineNumber, columnNumber)
    return ('originalLine' in entry ? entry.originalLine : lineNumber) + 1
  } catch {
    // The map comes from the user's code and may be invalid.
    return lineNumber + 1
  }
}
