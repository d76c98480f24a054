import { hash } from 'node:crypto'

/** The id of the answer to a request. As with real vendors, two calls of one trace have different ids. */
export function answerId(prefix: string, request: object): string {
  return `${prefix}_${hash('sha1', JSON.stringify(request), 'hex').slice(0, 24)}`
}
