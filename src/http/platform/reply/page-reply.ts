import type { IncomingMessage } from 'node:http'
import type { Headers } from '../../api/route.ts'

/** The sentence about server-sent events in descriptions of routes that respond with `pageReply`. */
export const EVENT_STREAM =
  'With `Accept: text/event-stream` the answer is server-sent events: one with the page as a JSON patch, then `end`.'

const NEWLINE = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
const BEFORE = Buffer.from('event: data\ndata: [{"op":"add","path":"","value":')
const AFTER = Buffer.from('}]\n\nevent: end\ndata: {}\n\n')

/**
 * A page of API v2 as JSON, or as server-sent events if the request accepts them (S-33). May change the bytes of
 * `page`.
 */
export function pageReply(
  { headers }: Pick<IncomingMessage, 'headers'>,
  page: Uint8Array,
): { headers: Headers; body: Uint8Array } {
  if (!asksForEvents(headers.accept)) return { headers: { vary: 'accept' }, body: page }
  const body = Buffer.concat([BEFORE, inOneLine(page), AFTER])
  return {
    headers: { vary: 'accept', 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
    body,
  }
}

/** True only if `accept` names the type; SDKs that expect JSON accept all types (S-4). */
export function asksForEvents(accept = ''): boolean {
  return accept.split(',').some((type) => type.split(';')[0]?.trim().toLowerCase() === 'text/event-stream')
}

/**
 * Replaces line breaks by spaces. In JSON, line breaks are white space between tokens, because those in strings are
 * escaped.
 */
function inOneLine(json: Uint8Array): Uint8Array {
  for (const mark of [NEWLINE, RETURN]) {
    for (let at = json.indexOf(mark); at >= 0; at = json.indexOf(mark, at + 1)) json[at] = SPACE
  }
  return json
}
