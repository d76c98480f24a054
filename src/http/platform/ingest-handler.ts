import type { IncomingHttpHeaders } from 'node:http'
import { newUuid, NIL_UUID } from '../../base/ids.ts'
import type { Principal } from '../../identity/principal.ts'
import type { Accepted } from '../../ingest/ingester.ts'
import type { Rejected, RequestHead } from '../../trace/decode/decoded.ts'
import type { AppDeps } from './app-deps.ts'
import { announcedLength, dropBody, withBody } from '../body/body.ts'
import { callerOf, sessionOf } from '../server/credentials.ts'
import type { Entrance } from './entrance.ts'
import { type Exchange, sendJson } from '../server/exchange.ts'
import { assertJsonType } from '../body/json.ts'
import { assertOtlpType, isOtlp, otlpProblem, sendExported } from './otlp.ts'
import { refuse } from '../server/answer/refuse.ts'
import { assertAllowed } from '../api/access.ts'
import type { HotRoute } from '../api/route.ts'
import type { PlatformRoute } from './route.ts'
import { usageWarning } from './usage-warning.ts'

export interface IngestMatch extends HotRoute {
  route: PlatformRoute
  path_run_id?: string
}

const JSON_KINDS: ReadonlySet<IngestMatch['kind']> = new Set(['batch', 'create', 'update'])
const UPDATE = /^\/runs\/([^/]+)\/?$/

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/**
 * Finds the ingest route of a request line; `path` has no prefix. A slash at its end is ignored, as on every other route.
 */
export function createIngestMatch(
  routes: readonly PlatformRoute[],
): (method: string | undefined, path: string) => IngestMatch | undefined {
  const posts = new Map<string, IngestMatch>()
  let update: IngestMatch | undefined
  for (const route of routes) {
    if (route.hot === undefined) continue
    const match = { ...route.hot, route }
    if (route.method === 'POST') posts.set(route.path, match)
    else update = match
  }
  return (method, path) => {
    if (method === 'POST') return posts.get(path) ?? posts.get(path.replace(/\/$/, ''))
    const id = method === 'PATCH' ? UPDATE.exec(path)?.[1] : undefined
    if (id === undefined || update === undefined) return undefined
    return { ...update, path_run_id: decoded(id) }
  }
}

/** The text of a header, which clients send in UTF-8 and Node reads as Latin-1. */
function headerText(header: string): string {
  if (!/[\x80-\xff]/.test(header)) return header
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'latin1'))
  } catch {
    return header
  }
}

/** The parts of a request's head that decoding needs. */
export function requestHead(
  { kind, path_run_id }: Pick<RequestHead, 'kind' | 'path_run_id'>,
  headers: IncomingHttpHeaders,
  principal: Principal,
  deps: AppDeps,
): RequestHead {
  const { max_body_bytes, max_parts, max_part_bytes } = deps.limits
  const project = headers['langsmith-project']
  return {
    kind,
    content_type: headers['content-type'] ?? '',
    content_encoding: headers['content-encoding'] ?? '',
    ...(path_run_id !== undefined && { path_run_id }),
    ...(kind === 'create' && { new_run_id: newUuid() }),
    ...(typeof project === 'string' && { project: headerText(project) }),
    workspace_id: principal.workspace_id,
    user_id: principal.user_id ?? NIL_UUID,
    api_key_id: principal.api_key_id,
    received_at: deps.clock.now(),
    limits: { max_body_bytes, max_parts, max_part_bytes },
  }
}

/** The outcome of one item that was not stored, in an ingest response (D-6). */
function toOutcome({ run_id, code, field, reason }: Rejected) {
  return { run_id, code, field, reason }
}

/**
 * Responds with 202 if anything was stored or the request was empty. If every item was rejected, responds with the
 * status, and LangSmith's wording, of the first one.
 */
export function sendAccepted(exchange: Exchange, outcome: Accepted): void {
  const accepted = outcome.accepted + outcome.feedback
  const rejected = outcome.rejected.map(toOutcome)
  const [first] = outcome.rejected
  if (accepted === 0 && first !== undefined) {
    const body = { detail: first.reason, error: first.error, code: first.code, rejected }
    sendJson(exchange, first.status, body)
    return
  }
  const message = rejected.length === 0 ? 'Runs accepted' : 'Runs accepted in part'
  const body = { message, accepted, rejected, ...(outcome.truncated && { truncated: true }) }
  sendJson(exchange, 202, body, usageWarning(outcome))
}

/**
 * Handles one ingest request completely: caller, permission, memory, body, ingest, response. If the connection breaks
 * during a multipart body, the part that arrived is ingested, although no client receives the response.
 */
export function createIngestHandler(deps: AppDeps, entrance: Entrance) {
  const ingest = async (exchange: Exchange, match: IngestMatch): Promise<void> => {
    const { req } = exchange
    const caller = callerOf(exchange, deps, { basic: match.basic })
    const principal = caller instanceof Promise ? await caller : caller
    exchange.principal = principal
    const needsNoKey = deps.gates !== undefined || sessionOf(exchange, match) !== undefined
    if (needsNoKey && JSON_KINDS.has(match.kind)) assertJsonType(req, true)
    assertAllowed(principal, match.route)
    const { kind } = match
    if (kind === 'otlp-metrics') {
      assertOtlpType(req)
      await dropBody(req)
      return sendExported(exchange, kind, entrance.dropMetrics())
    }
    await deps.rates.assertRoom(principal, announcedLength(req))
    await withBody(exchange, entrance.admission, deps.limits, async ({ bytes, aborted }, hold) => {
      const head = requestHead({ ...match, kind }, req.headers, principal, deps)
      if (aborted && (kind !== 'multipart' || bytes.length === 0)) return
      if (aborted) head.truncated = true
      const outcome = await deps.ingester.ingest(head, bytes, hold)
      if (isOtlp(head.kind)) sendExported(exchange, head.kind, outcome)
      else sendAccepted(exchange, outcome)
    })
  }
  return (exchange: Exchange, match: IngestMatch): void => {
    exchange.route = match.route.path
    const write = isOtlp(match.kind) ? otlpProblem(exchange) : undefined
    ingest(exchange, match).catch((thrown: unknown) =>
      refuse(exchange, thrown, { ...deps, ...entrance }, write),
    )
  }
}
