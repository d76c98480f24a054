import type { IncomingMessage } from 'node:http'

/** What a proxy has taken off the front of the path. */
export const PREFIX_HEADER = 'x-forwarded-prefix'

const PREFIX = /^(\/[\w.~-]+)*$/

/** What stands in front of `path`, of this API, in the address that the client knows. */
export function prefixOf(
  { url = '', headers }: Pick<IncomingMessage, 'url' | 'headers'>,
  path: string,
): string {
  const sent = headers[PREFIX_HEADER]
  const outer = typeof sent === 'string' && PREFIX.test(sent) ? sent : ''
  const asked = url.replace(/\?.*$/s, '')
  return outer + (asked.endsWith(path) ? asked.slice(0, asked.length - path.length) : '')
}
