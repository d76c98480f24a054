import { PASSED_HEADER } from '../../base/app-headers.ts'
import { newUuid } from '../../base/ids.ts'
import type { Exchange } from '../server/exchange.ts'
import { setHeader } from './request/withhold-credentials.ts'

/** Headers that browser gates check; an app must not be able to change them. */
const GATE_HEADERS = ['host', 'origin', 'sec-fetch-site'] as const

/** Requests that the custom HTTP app of a deployment may pass on to the routes of Weir. */
export function createPassedRequests() {
  const open = new Map<string, Exchange>()
  return {
    /** Adds a request that is open; returns its id. */
    add(exchange: Exchange): string {
      const id = newUuid()
      open.set(id, exchange)
      return id
    },
    /** Must be called when the request is closed. */
    remove: (id: string): void => void open.delete(id),
    /**
     * Gives a request that the app has passed on the credentials of the caller's request, with the headers by which
     * requests of browsers are checked. Does nothing for a request without a valid id.
     */
    resume(exchange: Exchange): void {
      const id = exchange.req.headers[PASSED_HEADER]
      // Graphs must not get the id in their configuration.
      setHeader(exchange.req, PASSED_HEADER)
      const asked = typeof id === 'string' ? open.get(id) : undefined
      if (asked === undefined) return
      exchange.sessionGates = asked.sessionGates
      exchange.withheld = asked.withheld
      if (asked.withheld?.cookie === undefined) return
      for (const name of GATE_HEADERS) setHeader(exchange.req, name, asked.req.headers[name])
    },
  }
}
