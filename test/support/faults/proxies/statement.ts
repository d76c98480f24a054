import type { IncomingMessage } from 'node:http'

/**
 * The statement of a request to ClickHouse. It is in the URL, or the first field of a form whose other fields are
 * parameters, or all of the body. `body` is undefined if the URL has the statement.
 */
export function sqlOf(req: IncomingMessage, body: Buffer | undefined): string {
  const inUrl = new URL(req.url ?? '/', 'http://proxy').searchParams.get('query')
  if (inUrl !== null) return inUrl
  const text = body?.toString('utf8') ?? ''
  return req.headers['content-type']?.startsWith('multipart/form-data')
    ? text.slice(text.indexOf('\r\n\r\n') + 4)
    : text
}
