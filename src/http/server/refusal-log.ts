import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '../../base/clock.ts'
import type { AppError, ErrorCode } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'

export interface RefusedCall {
  /** Method and route, e.g. `POST /v1/traces`. */
  what: string
  headers: IncomingHttpHeaders
  /** Address of the client. */
  from: string | undefined
  error: Pick<AppError, 'code' | 'message'>
}

/** Logs why requests are refused, because logs of clients often lack the reason. */
export interface RefusalLog {
  /**
   * Logs a request that is refused because of its key, its workspace or the encoding of its body; ignores other
   * refusals.
   */
  note(call: RefusedCall): void
  /** Logs that the client at `from` uses another protocol than the listener `what`. */
  noteProtocol(what: string, from: string | undefined, why: string): void
}

/** Minimum time between log lines of the same cause. */
const QUIET_MS = 60_000
/** Maximum number of separate causes; all further causes share one line a minute. */
const MAX_CAUSES = 200
const ALL_OTHERS = ''

interface Logged {
  at: number
  /** Number of refusals since the last log line. */
  since: number
}

function credentialOf(headers: IncomingHttpHeaders): string {
  if (headers['x-api-key'] !== undefined) return 'x-api-key'
  const [scheme = ''] = (headers.authorization ?? '').split(' ', 1)
  return scheme === '' ? 'none' : /^[a-z]{1,16}$/i.test(scheme) ? `Authorization: ${scheme}` : 'Authorization'
}

/** The request with which browsers check whether they are signed in; its 401 is not a fault. */
const SESSION_CHECK = 'GET /auth/session'

/** The reason for the log line; undefined for refusals that are not logged. */
const REASONS: Partial<Record<ErrorCode, (call: RefusedCall) => string>> = {
  unauthorized: ({ headers }) => {
    const credential = credentialOf(headers)
    return credential === 'none'
      ? 'it has no key; x-api-key or Authorization: Bearer carries one'
      : `this server does not know the key in ${credential}, or it was revoked or has expired`
  },
  forbidden: () => 'its key does not allow this, or not in the workspace of X-Tenant-Id',
  permission_required: ({ error }) => error.message,
  workspace_required: ({ error }) => error.message,
  unsupported_media_type: ({ headers }) => `its Content-Type is ${shown(headers['content-type'])}`,
  unsupported_encoding: ({ headers }) =>
    `it is compressed with ${shown(headers['grpc-encoding'] ?? headers['content-encoding'])}`,
}

/** A value of the client, shortened to one line. */
function shown(value: string | string[] | undefined): string {
  return value === undefined ? 'not given' : JSON.stringify(String(value).slice(0, 100))
}

/** A log of refusals with one line a minute for each cause: the same call from the same address with the same fault. */
export function createRefusalLog({ logger, clock }: { logger: Logger; clock: Clock }): RefusalLog {
  const causes = new Map<string, Logged>()

  const find = (cause: string, now: number): [key: string, logged: Logged | undefined] => {
    const logged = causes.get(cause)
    if (logged !== undefined || causes.size < MAX_CAUSES) return [cause, logged]
    for (const [key, { at }] of causes) if (now - at >= QUIET_MS) causes.delete(key)
    return causes.size < MAX_CAUSES ? [cause, undefined] : [ALL_OTHERS, causes.get(ALL_OTHERS)]
  }

  const warnOnce = (code: string, what: string, from = 'an unknown address', why: () => string): void => {
    const now = clock.steady()
    const [key, logged] = find([code, what, from].join('\n'), now)
    if (logged !== undefined && now - logged.at < QUIET_MS) {
      logged.since++
      return
    }
    causes.set(key, { at: now, since: 0 })
    const more = logged === undefined || logged.since === 0 ? {} : { others_since: logged.since }
    logger.warn({ code, ...more }, `refused ${what} from ${from}: ${why()}`)
  }

  return {
    note(call) {
      const { what, from, error } = call
      if (what === SESSION_CHECK && credentialOf(call.headers) === 'none') return
      const reason = REASONS[error.code]
      if (reason !== undefined) warnOnce(error.code, what, from, () => reason(call))
    },
    noteProtocol: (what, from, why) => warnOnce('protocol', what, from, () => why),
  }
}
