import type { IncomingMessage } from 'node:http'

/** Header with the path prefix that a proxy removed. */
export const PREFIX_HEADER = 'x-forwarded-prefix'

const PREFIX = /^(\/[\w.~-]+)*$/

/** The prefix of the URL that the client used: its part before `path`, which is a path of this API. */
export function prefixOf(
  { url = '', headers }: Pick<IncomingMessage, 'url' | 'headers'>,
  path: string,
): string {
  const sent = headers[PREFIX_HEADER]
  const outer = typeof sent === 'string' && PREFIX.test(sent) ? sent : ''
  const asked = url.replace(/\?.*$/s, '')
  return outer + (asked.endsWith(path) ? asked.slice(0, asked.length - path.length) : '')
}
