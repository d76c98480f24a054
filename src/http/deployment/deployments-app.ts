import { AppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { RequestHandler } from '../server/http-server.ts'
import { refuse } from '../server/answer/refuse.ts'
import { createExchange } from '../server/exchange.ts'
import type { Observer } from '../server/observe.ts'
import { notServedHere, type OtherApi } from '../server/other-api.ts'
import { deploymentProblem } from './app.ts'
import { deploymentOf, type DeploymentMounts, isServed } from './mounts.ts'

/**
 * Serves the deployment of GRAPHS at the root, and all deployments under `/deployments/{name}`, at an origin of their
 * own, where session cookies do not count. `platform` is the platform API, for requests sent to the wrong listener.
 */
export function createDeploymentsApp(
  mounts: DeploymentMounts,
  { observer, logger, platform }: { observer: Observer; logger: Logger; platform: OtherApi },
): RequestHandler {
  const { root } = mounts
  return {
    handle(req, res) {
      const { found, prefix } = deploymentOf(mounts, req) ?? {}
      if (found !== undefined && isServed(found)) return found.handle(req, res, prefix, 'deployments')
      if (found === undefined && root !== undefined) return root.handle(req, res)
      const exchange = createExchange(req, res, (path) => path)
      const asked = { method: req.method, path: exchange.path }
      const error =
        found === undefined
          ? notServedHere(new AppError('not_found'), asked, platform)
          : // Only the platform API tells the reason, to callers whose key it has checked.
            new AppError(found.refusal.code)
      observer.observe(exchange, () => refuse(exchange, error, { logger }, deploymentProblem))
    },
    takesSocket(req) {
      const { found, prefix } = deploymentOf(mounts, req) ?? {}
      if (found === undefined) return root?.takesSocket(req) === true
      return isServed(found) && found.takesSocket(req, prefix)
    },
    upgrade(req, socket, head) {
      const { found, prefix } = deploymentOf(mounts, req) ?? {}
      if (found === undefined) root?.upgrade(req, socket, head)
      else if (isServed(found)) found.upgrade(req, socket, head, prefix, 'deployments')
      else socket.destroy()
    },
  }
}
