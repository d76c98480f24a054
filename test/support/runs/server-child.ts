import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLogger } from '../../../src/base/log.ts'
import { createMetrics } from '../../../src/base/metrics.ts'
import { createSweeps } from '../../../src/base/background/sweeps.ts'
import { toAppError } from '../../../src/base/errors.ts'
import { readConfig } from '../../../src/config.ts'
import type { Call } from '../../../src/runs/runs.ts'
import type { UsageQuery } from '../../../src/usage/report/source.ts'
import { openGraphsDeployment, readGraphsProject } from '../../../src/hosting/graphs-deployment.ts'
import { WORKSPACE_ID } from './server.ts'

// A deployment in a process of its own, without traces and without its API: calls are sent as
// `{"on":"runs","do":"create","with":[…]}`. Prints its port when it listens.

const config = readConfig()
const project = await readGraphsProject(config)
if (project === undefined) throw new Error('GRAPHS is not set')
const stops = new AsyncDisposableStack()
const noIngest = () => Promise.reject(new Error('there is no ingest'))
const logger = createLogger({ level: 'warn' })
const metrics = createMetrics()
const parts = {
  config,
  logger,
  metrics,
  sweeps: createSweeps({ logger, metrics }),
  workspace_id: WORKSPACE_ID,
  openTraces: () => ({ record: () => undefined, flushed: async () => undefined }),
  traceTotals: noIngest,
  disk: { assertRoom: async () => undefined },
  asLeader: undefined,
  servers: undefined,
  installation: { id: 'installation', claim: async () => async () => undefined },
  stops,
  created_at: 0,
}
const { open, shared } = await openGraphsDeployment(parts, project)
const deployment = open.running
const call: Call = { tenant: deployment.tenant, caller: { user_id: null, api_key_id: '' }, headers: {} }

interface Asked {
  on: 'runs' | 'threads' | 'crons' | 'host' | 'usage'
  do: string
  with: unknown[]
}

async function answerTo(asked: Asked): Promise<unknown> {
  if (asked.on === 'host') return deployment.host.pids()
  if (asked.on === 'usage') return await shared.state.usage.count(asked.with[0] as UsageQuery)
  if (asked.do === 'join') {
    const [thread_id, run_id] = asked.with as [string, string]
    const gone = new AbortController().signal
    const { result } = await deployment.runs.join(call, thread_id, run_id, {
      gone,
      cancel_on_disconnect: false,
    })
    return result
  }
  const verbs = deployment[asked.on] as unknown as Record<string, Verb>
  return verbs[asked.do]?.(call, ...asked.with)
}

type Verb = (call: Call, ...rest: unknown[]) => Promise<unknown>

const server = createServer((req, res) => {
  void (async () => {
    let body = ''
    for await (const chunk of req.setEncoding('utf8')) body += chunk
    const asked = JSON.parse(body) as Asked
    try {
      const answer = await answerTo(asked)
      res.end(JSON.stringify({ answer: answer ?? null }))
    } catch (error) {
      res.end(JSON.stringify({ code: toAppError(error).code }))
    }
  })()
})
// Longer than any pause between calls: a call must not be sent on a connection that is being closed.
server.keepAliveTimeout = 3_600_000
server.listen(0, '127.0.0.1', () => process.stdout.write(`port ${(server.address() as AddressInfo).port}\n`))

process.once('SIGTERM', () => {
  void (async () => {
    server.close()
    await stops.disposeAsync()
    process.exit(0)
  })()
})
