import { mkdtemp, rm } from 'node:fs/promises'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createLogger } from '../../base/log.ts'
import { createMetrics } from '../../base/metrics.ts'
import { startHttpServer } from '../server/http-server.ts'
import { startSocketServer } from '../server/socket-server.ts'
import { createDeploymentApp, type DeploymentApp } from './app.ts'
import { readCorsRules, withoutPages, withoutWildcard } from '../server/browser/cors.ts'
import type { DeploymentDeps } from './deps.ts'

const PAGE = 'http://localhost:3000'

/** Starts a deployment that needs no key. Its HTTP app passes every request on to the routes of Weir. */
async function startDeployment(): Promise<{ url: string; app: DeploymentApp }> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-mounted-'))
  const [socket, core] = [join(folder, 'app'), join(folder, 'core')]
  const rules = readCorsRules({})
  const deps = {
    metrics: createMetrics(),
    logger: createLogger({ level: 'silent' }),
    observer: { observe: (_exchange: unknown, serve: () => void) => serve() },
    cors: withoutWildcard(rules),
    gates: undefined,
    tenant: { workspace_id: 'w' },
    streams: { closing: new AbortController().signal },
  } as unknown as DeploymentDeps
  const app = createDeploymentApp(deps, {
    customApp: { open: async () => ({ socket, routes: null }) },
    mounted: { cors: withoutPages(rules), gates: undefined },
  })
  const passOn = (req: IncomingMessage, res: ServerResponse): void => {
    const { method, url: path, headers } = req
    const asked = request({ socketPath: core, method, path, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.pipe(res)
    })
    req.pipe(asked)
  }
  const stopApp = await startSocketServer(socket, passOn)
  const stopCore = await startSocketServer(core, (req, res) => app.handleOfApp(req, res, 'core'))
  const server = await startHttpServer(
    { handle: (req, res) => app.handle(req, res, req.url?.startsWith('/mount') === true ? '/mount' : '') },
    { host: '127.0.0.1', port: 0 },
  )
  onTestFinished(async () => {
    await server.stop(0)
    await Promise.all([stopApp(), stopCore()])
    await rm(folder, { recursive: true, force: true })
  })
  return { url: server.url, app }
}

it('pages may call through an HTTP app what they may without it: under a prefix the rules of the prefix hold', async () => {
  const { url } = await startDeployment()
  const allowed = async (path: string): Promise<unknown[]> => {
    const answer = await fetch(url + path, { headers: { origin: PAGE } })
    await answer.body?.cancel()
    return [answer.status, answer.headers.get('access-control-allow-origin')]
  }
  expect(await allowed('/nothing')).toEqual([404, PAGE])
  expect(await allowed('/mount/nothing')).toEqual([404, null])
})
