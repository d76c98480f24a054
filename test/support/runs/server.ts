import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { AppError, type ErrorCode } from '../../../src/base/errors.ts'
import type { DeploymentCount, UsageQuery } from '../../../src/usage/report/source.ts'
import { NODE_COMPILE_CACHE } from '../compile-cache.ts'
import { PYTHON } from '../python.ts'

const CHILD = fileURLToPath(new URL('server-child.ts', import.meta.url))
const GRAPHS = fileURLToPath(new URL('../../fixtures/run-graphs/langgraph.json', import.meta.url))

/** Environment of a server with the same graphs in Python. */
export const PYTHON_RUNS = {
  GRAPHS: fileURLToPath(new URL('../../fixtures/python-runs/langgraph.json', import.meta.url)),
  VIRTUAL_ENV: join(PYTHON, '..', '..'),
}

/** The workspace of the deployment. */
export const WORKSPACE_ID = '6f1c39c5-6e5b-4b52-a1c5-6a5f0a1b2c3d'

const EVERYTHING: UsageQuery = {
  workspace_ids: [WORKSPACE_ID],
  start: 0,
  end: Date.UTC(2200, 0),
  origin: 0,
  stride: { days: 365_000, hours: 0 },
  group_by: 'workspace',
}

/** A deployment in a process of its own, which tests kill. */
export interface RunServer {
  readonly pid: number
  /** Pids of its graph hosts. */
  hosts(): Promise<number[]>
  /** All runs that were counted, and their nodes. */
  usage(): Promise<Pick<DeploymentCount, 'agent_runs' | 'nodes_executed'>[]>
  /** Calls a use case: `ask('runs', 'create', thread_id, request)`. Rejects with the AppError that it throws. */
  ask<T>(on: 'runs' | 'threads' | 'crons', verb: string, ...args: unknown[]): Promise<T>
  /** kill -9; resolves when the process is gone. */
  kill(): Promise<void>
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
}

export async function startRunServer(dataDir: string, env: Record<string, string> = {}): Promise<RunServer> {
  const child = spawn(process.execPath, [CHILD], {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE,
      DATA_DIR: dataDir,
      GRAPHS,
      RUN_TRACING: 'off',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('port ')) resolve(Number(line.slice(5)))
    })
    child.once('exit', (code) => reject(new Error(`the run server ended with ${code}`)))
  })
  const send = async (asked: object): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: JSON.stringify(asked) })
    const { code, answer } = (await response.json()) as { code?: ErrorCode; answer: unknown }
    if (code !== undefined) throw new AppError(code)
    return answer
  }
  return {
    pid: child.pid ?? 0,
    usage: async () => (await send({ on: 'usage', do: 'count', with: [EVERYTHING] })) as DeploymentCount[],
    hosts: async () => (await send({ on: 'host', do: 'pids', with: [] })) as number[],
    ask: async <T>(on: string, verb: string, ...args: unknown[]) =>
      (await send({ on, do: verb, with: args })) as T,
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    async stop() {
      child.kill('SIGTERM')
      await exited
      return child.exitCode
    },
  }
}
