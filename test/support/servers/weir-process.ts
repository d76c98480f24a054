import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { IngestHealth } from '../../../src/ingest/ingester.ts'
import { until } from '../stores/clickhouse/embedded-clickhouse.ts'
import { PATIENCE_MS } from '../eventually.ts'
import { NODE_COMPILE_CACHE } from '../compile-cache.ts'
import { addFirstClickHouse } from '../stores/clickhouse/first-clickhouse.ts'

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))
/** Free ports, no gRPC and no graphs unless a test sets them. */
const QUIET = {
  PORT: '0',
  DEPLOYMENT_PORT: '0',
  OTLP_GRPC_PORT: 'off',
  GRAPHS: '',
  // Only tests of the isolation set another value; no other test depends on bubblewrap.
  DEPLOY_ISOLATION: 'none',
}
const STOP_MS = PATIENCE_MS

export const KEY = 'lsv2_pt_0123456789abcdef0123456789abcdef_0123456789'

export interface LogLine {
  readonly level: string
  readonly msg: string
  readonly url?: string
  readonly code?: string
  readonly err?: unknown
}

/** A Weir in a separate process, which tests can kill. */
export interface WeirProcess {
  readonly url: string
  readonly dataDir: string
  readonly pid: number
  /** The server's log so far. */
  readonly log: readonly LogLine[]
  /** True until the process has ended. */
  isAlive(): boolean
  /** Sends a request with the admin key; `path` starts with a slash. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** The body of a successful response; rejects for any other response. */
  json<T>(path: string, init?: RequestInit): Promise<T>
  health(): Promise<IngestHealth>
  /** Resolves when everything acknowledged is in the store. */
  drained(ms?: number): Promise<IngestHealth>
  /** Pid of the embedded ClickHouse. */
  enginePid(): Promise<number>
  /** kill -9; resolves when the process is gone. */
  kill(): Promise<void>
  /** Sends SIGTERM and resolves with the exit code. */
  stop(): Promise<number | null>
}

/** Environment variables for a Weir, besides DATA_DIR. */
export type WeirEnvironment = Readonly<Record<string, string>>

/**
 * Starts `weir serve` on the folder with a free port. Rejects with the last log lines if the server does not start to
 * listen. `main` is the program, by default that of this checkout. `prefix` is a command that executes the command line
 * after it.
 */
export async function startWeir(
  dataDir: string,
  env: WeirEnvironment = {},
  args: readonly string[] = [],
  main: string = MAIN,
  prefix: readonly string[] = [],
): Promise<WeirProcess> {
  await addFirstClickHouse(dataDir, env)
  const [program = '', ...words] = [...prefix, process.execPath, main, 'serve', ...args]
  const child = spawn(program, words, {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE,
      DATA_DIR: dataDir,
      ...QUIET,
      BOOTSTRAP_API_KEY: KEY,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // Not 'exit': at that event, log lines may still be in the pipe.
  const ended = once(child, 'close')
  const log: LogLine[] = []
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-4000)
  })
  const url = await new Promise<string>((resolve, reject) => {
    const fail = (why: string): void => {
      child.kill('SIGKILL')
      reject(new Error(`Weir ${why}: ${JSON.stringify(log.slice(-5))} ${stderr}`))
    }
    const timer = setTimeout(() => fail('does not listen'), PATIENCE_MS)
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = JSON.parse(text) as LogLine
      log.push(line)
      if (line.msg !== 'listening' || line.url === undefined) return
      clearTimeout(timer)
      resolve(line.url)
    })
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      fail(`ended with ${signal ?? code}`)
    })
  })
  return handle(child, ended, { url, dataDir, log })
}

function handle(
  child: ChildProcess,
  ended: Promise<unknown>,
  facts: Pick<WeirProcess, 'url' | 'dataDir' | 'log'>,
): WeirProcess {
  const ask = (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers)
    headers.set('x-api-key', KEY)
    return fetch(facts.url + path, { ...init, headers })
  }
  const json = async <T>(path: string, init?: RequestInit): Promise<T> => {
    const answer = await ask(path, init)
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as T
  }
  const health = (): Promise<IngestHealth> => json('/api/v1/ingest/health')
  return {
    ...facts,
    pid: child.pid ?? 0,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    fetch: ask,
    json,
    health,
    async drained(ms = PATIENCE_MS) {
      let last: IngestHealth | undefined
      await until('the ingest log has drained', async () => (last = await health()).waiting === 0, ms)
      return last as IngestHealth
    },
    async enginePid() {
      const names = await readdir(join(facts.dataDir, 'processes'))
      const pids = names.flatMap((name) => /^clickhouse-(\d+)\.json$/.exec(name)?.[1] ?? [])
      if (pids.length !== 1) throw new Error(`not one engine: ${names.join(' ')}`)
      return Number(pids[0])
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    async stop() {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      await ended
      clearTimeout(timer)
      return child.exitCode
    },
  }
}

export function jsonBody(method: string, value: unknown) {
  return { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }
}
