import type { IncomingMessage } from 'node:http'

/** Whether a browser requests a page to show. */
export function isPageRequest({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers.accept?.includes('text/html') === true
}
