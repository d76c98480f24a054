import { AppError } from '../../../base/errors.ts'
import type { Logger } from '../../../base/log.ts'
import { dropRest } from '../../body/body.ts'
import type { Exchange } from '../exchange.ts'
import { type ProblemWriter, sendProblem, textProblem } from '../problem.ts'
import type { RefusalLog } from '../refusal-log.ts'

/** Paths of the control plane. Their errors have a text in `detail`, which `langgraph deploy` prints. */
const CONTROL_PLANE = /^\/(v2\/(deployments|listeners|uploads)|v1\/projects)(\/|$)/

/** Time in which a client whose body arrives too slowly can read the response, before the connection is cut. */
const SLOW_DRAIN_MS = 500

/**
 * Responds with the error, and drops the rest of the body. If the body arrives too slowly, the connection is soon cut.
 */
export function refuse(
  exchange: Exchange,
  thrown: unknown,
  deps: { logger: Logger; refusals?: RefusalLog },
  write?: ProblemWriter,
): void {
  const { req, route } = exchange
  if (thrown instanceof AppError)
    deps.refusals?.note({
      what: `${req.method} ${route}`,
      headers: req.headers,
      from: req.socket.remoteAddress,
      error: thrown,
    })
  const tooSlow = thrown instanceof AppError && thrown.code === 'body_too_slow'
  const writer = write ?? (CONTROL_PLANE.test(exchange.path) ? textProblem : undefined)
  sendProblem(exchange, thrown, deps.logger, {}, writer)
  dropRest(exchange.req, tooSlow ? SLOW_DRAIN_MS : undefined)
}
