import { AppError } from '../base/errors.ts'
import { NIL_UUID } from '../base/ids.ts'
import type { Principal } from '../auth/principal.ts'
import type { Accepted } from '../ingest/ingester.ts'
import type { Rejected, RequestHead } from '../trace/decoded.ts'
import type { Admission } from './admission.ts'
import type { AppDeps } from './app-deps.ts'
import { dropRest, withBody } from './body.ts'
import { credentialsOf } from './credentials.ts'
import { type Exchange, sendJson } from './exchange.ts'
import { assertJsonType } from './json-body.ts'
import { isOtlp, otlpProblem, sendExported } from './otlp.ts'
import { accessOf, assertAllowed } from './permissions.ts'
import { type ProblemWriter, sendProblem } from './problem.ts'
import type { RouteAccess } from './route.ts'
import { usageWarning } from './usage-warning.ts'

/** An ingest route that a request matched. */
export interface IngestMatch {
  kind: RequestHead['kind']
  route: string
  access: RouteAccess
  path_run_id?: string
}

function post(route: string, kind: RequestHead['kind']): [path: string, match: IngestMatch] {
  return [route, { kind, route, access: accessOf(`POST ${route}`) }]
}

const POSTS: ReadonlyMap<string, IngestMatch> = new Map([
  post('/runs/multipart', 'multipart'),
  post('/runs/batch', 'batch'),
  post('/runs', 'create'),
  post('/otel/v1/traces', 'otlp-traces'),
  post('/v1/traces', 'otlp-traces'),
  post('/otel/v1/logs', 'otlp-logs'),
  post('/v1/logs', 'otlp-logs'),
])
const JSON_KINDS: ReadonlySet<RequestHead['kind']> = new Set(['batch', 'create', 'update'])
const PATCH_ACCESS = accessOf('PATCH /runs/{id}')
const UPDATE = /^\/runs\/([^/]+)$/

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** The ingest route of a request line; `path` is without prefix. */
export function matchIngest(method: string | undefined, path: string): IngestMatch | undefined {
  if (method === 'POST') return POSTS.get(path)
  const id = method === 'PATCH' ? UPDATE.exec(path)?.[1] : undefined
  if (id === undefined) return undefined
  return { kind: 'update', route: '/runs/{id}', access: PATCH_ACCESS, path_run_id: decoded(id) }
}

/** Head of an ingest request as decoding wants it. */
export function requestHead(
  match: Pick<IngestMatch, 'kind' | 'path_run_id'>,
  exchange: Pick<Exchange, 'req'>,
  principal: Principal,
  deps: AppDeps,
): RequestHead {
  const { headers } = exchange.req
  const { max_body_bytes, max_parts, max_part_bytes } = deps.limits
  const project = headers['langsmith-project']
  return {
    kind: match.kind,
    content_type: headers['content-type'] ?? '',
    content_encoding: headers['content-encoding'] ?? '',
    ...(match.path_run_id !== undefined && { path_run_id: match.path_run_id }),
    ...(typeof project === 'string' && { project }),
    workspace_id: principal.workspace_id,
    user_id: principal.user_id ?? NIL_UUID,
    api_key_id: principal.api_key_id,
    received_at: deps.clock.now(),
    limits: { max_body_bytes, max_parts, max_part_bytes },
  }
}

/** What an ingest answer says of one item that was not stored (D-6). */
function toOutcome({ run_id, code, field, reason }: Rejected) {
  return { run_id, code, field, reason }
}

/**
 * 202 when anything was stored or nothing was sent; else the status and LangSmith's wording of the first
 * rejected item (contract §1.5: a request fails only if nothing of it is storable).
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
 * Handles one ingest request whole: caller, permission, memory, body, ingest, answer. Of a multipart body whose connection
 * broke, what arrived is ingested although nobody waits for the answer (contract §1.3).
 */
export function createIngestHandler(deps: AppDeps, admission: Admission) {
  const ingest = async (exchange: Exchange, match: IngestMatch): Promise<void> => {
    deps.gates?.assertOwn(exchange.req)
    if (deps.gates !== undefined && JSON_KINDS.has(match.kind)) assertJsonType(exchange.req, true)
    const caller = deps.authenticator.authenticate(credentialsOf(exchange.req.headers))
    const principal = caller instanceof Promise ? await caller : caller
    exchange.principal = principal
    assertAllowed(principal, match.access)
    const head = requestHead(match, exchange, principal, deps)
    await withBody(exchange, admission, deps.limits, async ({ bytes, aborted }) => {
      if (aborted && (match.kind !== 'multipart' || bytes.length === 0)) return
      if (aborted) head.truncated = true
      const outcome = await deps.ingester.ingest(head, bytes)
      if (isOtlp(head.kind)) sendExported(exchange, head.kind, outcome)
      else sendAccepted(exchange, outcome)
    })
  }
  return (exchange: Exchange, match: IngestMatch): void => {
    exchange.route = match.route
    const write = isOtlp(match.kind) ? otlpProblem(exchange) : undefined
    ingest(exchange, match).catch((thrown: unknown) => refuse(exchange, thrown, deps, write))
  }
}

/** Answers with the error; what is still coming of the body is dropped, or cut off if it comes too slowly. */
export function refuse(
  exchange: Exchange,
  thrown: unknown,
  deps: Pick<AppDeps, 'logger'>,
  write?: ProblemWriter,
): void {
  const tooSlow = thrown instanceof AppError && thrown.code === 'body_too_slow'
  sendProblem(exchange, thrown, deps.logger, tooSlow ? { connection: 'close' } : {}, write)
  if (!tooSlow) dropRest(exchange.req)
}
