import { AppError } from '../../base/errors.ts'

/** The API on the other listener of this server, for requests that were sent to the wrong one. */
export interface OtherApi {
  /** Name in messages: `the deployment API (threads and runs)`. */
  name: string
  serves(method: string, path: string): boolean
  /** Port of the listener; undefined before it listens. */
  port(): number | undefined
  /** Further text of the message about another address of the API; it follows `listens on port 1985`. */
  also?: string
}

/**
 * The error for a request whose path or method has no route: if the other API has the route, the message names its
 * address, with the same code.
 */
export function notServedHere(
  refusal: AppError,
  { method = 'GET', path }: { method: string | undefined; path: string },
  other: OtherApi | undefined,
): AppError {
  const port = other?.port()
  if (other === undefined || port === undefined || !other.serves(method, path)) return refusal
  const also = other.also === undefined ? '' : ` ${other.also}`
  const message = `Not found here: ${method} ${path} is a route of ${other.name}, which listens on port ${port}${also}.`
  return new AppError(refusal.code, { message })
}
