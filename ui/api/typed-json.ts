import { parseExact } from './exact-json.ts'

/** A text that is not JSON, with the line of the fault. */
export class JsonFault extends Error {}

const TOKEN = /\s+|"(?:[^"\\\n]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/y

/** The place of the first characters that JSON does not have: browsers do not name it. */
function strangePlace(text: string): number | undefined {
  let at = 0
  while (at < text.length) {
    TOKEN.lastIndex = at
    if (!TOKEN.test(text)) return at
    at = TOKEN.lastIndex
  }
  return undefined
}

/** Parses JSON that a person typed; numbers are kept as typed. @throws JsonFault naming the line */
export function parseTyped(text: string, what: string): unknown {
  try {
    return parseExact(text)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const at = /position (\d+)/.exec(message)?.[1] ?? strangePlace(text)
    const line = at === undefined ? '' : `, line ${text.slice(0, Number(at)).split('\n').length}`
    throw new JsonFault(`${what} is not JSON${line}: ${message}`)
  }
}
