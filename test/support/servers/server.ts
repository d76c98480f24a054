import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { NODE_COMPILE_CACHE } from '../compile-cache.ts'
import { eventually, PATIENCE_MS } from '../eventually.ts'
import { addFirstClickHouse } from '../stores/clickhouse/first-clickhouse.ts'

export const API_KEY = 'conformance_key_0123456789'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** A real Weir as a separate process, with a free port and its own folder. */
export interface WeirProcess {
  readonly url: string
  /** URL of the deployment's own listener; '' when none is hosted. */
  readonly deploymentUrl: string
  /** URL of OTLP over gRPC; '' if gRPC is off. */
  readonly otlpGrpcUrl: string
  /** Key of an admin, which requests use. */
  readonly key: string
  readonly dataDir: string
  /** Log lines of level error and fatal so far. */
  errors(): string[]
  /** A request with the key; `path` may be absolute. */
  request(path: string, init?: WeirRequest): Promise<Response>
  /** Body of a 200 response; rejects with any other status. A request with a body is a POST. */
  json<T>(path: string, body?: unknown): Promise<T>
  /** Sends SIGTERM; resolves with the exit code after removing the folder. */
  stop(): Promise<number | null>
}

export interface WeirRequest {
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array<ArrayBuffer>
}

interface Started {
  child: ChildProcess
  /** Resolves when the process has exited and all of its output is in `output`. */
  ended: Promise<unknown>
  url: string
  deploymentUrl: string
  otlpGrpcUrl: string
  output: string[]
}

/** Resolves when the process has printed its addresses. */
async function spawnWeir(dataDir: string, env: Record<string, string>): Promise<Started> {
  const child = spawn(process.execPath, ['src/main.ts', 'serve'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      NODE_COMPILE_CACHE,
      DATA_DIR: dataDir,
      HOST: '127.0.0.1',
      PORT: '0',
      DEPLOYMENT_PORT: '0',
      OTLP_GRPC_PORT: 'off',
      GRAPHS: '',
      BOOTSTRAP_API_KEY: API_KEY,
      ...env,
    },
  })
  // If the test process ends without running its hooks, its server must end too.
  const end = (): boolean => child.kill('SIGKILL')
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))
  const ended = once(child, 'close')
  const output: string[] = []
  createInterface(child.stderr).on('line', (line) => output.push(line))
  const listening = await new Promise<string>((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`weir ${why}:\n${output.join('\n')}`))
    const timer = setTimeout(() => fail(`did not listen within ${PATIENCE_MS} ms`), PATIENCE_MS)
    child.once('close', (code) => fail(`ended with ${code}`))
    createInterface(child.stdout).on('line', (line) => {
      output.push(line)
      if (!line.endsWith('"msg":"listening"}')) return
      clearTimeout(timer)
      resolve(line)
    })
  })
  type Listening = { url: string; deployment_url?: string; otlp_grpc_url?: string }
  const { url, deployment_url = '', otlp_grpc_url = '' } = JSON.parse(listening) as Listening
  return { child, ended, url, deploymentUrl: deployment_url, otlpGrpcUrl: otlp_grpc_url, output }
}

/** Starts a server, which the caller stops. `env` is added to the variables of every test server. */
export async function startWeir(env: Record<string, string> = {}): Promise<WeirProcess> {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-server-'))
  await addFirstClickHouse(dataDir, env)
  const { child, ended, url, deploymentUrl, otlpGrpcUrl, output } = await spawnWeir(dataDir, env)
  const errors = (): string[] => output.filter((line) => /"level":"(error|fatal)"/.test(line))
  return {
    ...clientOf(url, API_KEY),
    deploymentUrl,
    otlpGrpcUrl,
    dataDir,
    errors,
    async stop() {
      child.kill('SIGTERM')
      await ended
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
      if (errors().length > 0) throw new Error(`weir logged errors:\n${errors().join('\n')}`)
      return child.exitCode
    },
  }
}

export function clientOf(url: string, key: string): Pick<WeirProcess, 'url' | 'key' | 'request' | 'json'> {
  const request = (path: string, { headers, ...init }: WeirRequest = {}): Promise<Response> =>
    fetch(new URL(path, url), { ...init, headers: { 'x-api-key': key, ...headers } })
  return {
    url,
    key,
    request,
    async json<T>(path: string, body?: unknown): Promise<T> {
      const json = { method: 'POST', headers: { 'content-type': 'application/json' } }
      const response = await request(path, body === undefined ? {} : { ...json, body: JSON.stringify(body) })
      const text = await response.text()
      if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text}`)
      return JSON.parse(text) as T
    },
  }
}

/** Resolves when everything that the server has acknowledged has been stored, derived and counted. */
export async function drained(weir: Pick<WeirProcess, 'json'>): Promise<void> {
  await eventually(async () => {
    const { waiting } = await weir.json<{ waiting: number }>('/api/v1/ingest/health')
    if (waiting > 0) throw new Error(`${waiting} requests wait to be stored`)
  })
}
