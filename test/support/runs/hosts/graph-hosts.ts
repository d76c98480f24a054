import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe } from 'vitest'
import { systemClock } from '../../../../src/base/clock.ts'
import { createLogger } from '../../../../src/base/log.ts'
import { readDeploymentFile } from '../../../../src/graph/project/deployment-file.ts'
import { type GrantStorage, type GraphHostOptions, launchOf } from '../../../../src/graph/pool/launch.ts'
import type { HostLaunch } from '../../../../src/graph/pool/process.ts'
import { createGraphHosts, type GraphHosts } from '../../../../src/graph/pool/pool.ts'
import { startStorageBroker, type StorageBroker } from '../../../../src/graph/broker/storage-broker.ts'
import type { GraphLanguage } from '../../../../src/graph/project/graph-spec.ts'
import type { GraphCall, GraphEnd, GraphJob, StreamItem } from '../../../../src/runs/execute/graph-host.ts'
import type { RunKwargs, Tenant } from '../../../../src/runs/model.ts'
import type { RunStore } from '../../../../src/runs/run-store.ts'
import type { JsonObject, JsonValue } from '../../../../src/schema/json.ts'
import { openRunDatabase } from '../../../../src/storage/sql/driver/open-run-database.ts'
import { createRunStore } from '../../../../src/storage/sql/runs/run-store.ts'
import type { Database } from '../../../../src/storage/sql/driver/database.ts'
import { NODE_COMPILE_CACHE } from '../../compile-cache.ts'
import { PYTHON, withoutPython } from '../../python.ts'
import { operationsOf } from '../../stores/broker.ts'
import { RUN_KWARGS } from '../run-store.ts'
import { firstInShort } from '../../length.ts'

/** The same graphs in each language: paths of their langgraph.json. */
export const FIXTURES_OF: Readonly<Record<GraphLanguage, string>> = {
  javascript: fixtures('graphs'),
  python: fixtures('python-graphs'),
}

function fixtures(folder: string): string {
  return fileURLToPath(new URL(`../../../fixtures/${folder}/langgraph.json`, import.meta.url))
}

export const TENANT: Tenant = { workspace_id: 'w', deployment_id: 'd' }

/** The end of a run, and the items that it sent before. */
export interface Executed {
  end: GraphEnd
  items: StreamItem[]
  traces: JsonObject[]
}

/** Graph hosts over a run database of their own, with a store that admits runs. */
export interface HostBench {
  hosts: GraphHosts
  store: RunStore
  /** Admits and claims a run; returns a job with a valid lease. */
  job(
    graph_id: string,
    input: JsonValue,
    kwargs?: Partial<RunKwargs>,
    thread_id?: string,
    traced?: boolean,
  ): Promise<GraphJob>
  /** Executes a job and finishes its run. */
  execute(job: GraphJob, signal?: AbortSignal): Promise<Executed>
  /** Admits, claims and executes a run. */
  run(graph_id: string, input: JsonValue, kwargs?: Partial<RunKwargs>, thread_id?: string): Promise<Executed>
  /** The command that starts a host, for tests that start a host themselves, as the pool does. */
  launch(change?: Partial<GraphHostOptions>): HostLaunch
  stop(): Promise<void>
}

/** The environment of the tests' Python, in which LangGraph is installed. */
const VIRTUAL_ENV = dirname(dirname(PYTHON))

/** Opens hosts of one language for graphs of the fixtures. */
export type OpenBench = (
  graphs?: readonly string[],
  options?: Partial<GraphHostOptions>,
) => Promise<HostBench>

/**
 * Registers the tests of `body` for the hosts of each language, which have the same graphs and protocol. A bench has one
 * host by default, because starting a host takes most of the time of such tests. The tests with Python hosts run only in
 * `npm run test:long`.
 */
export function describeHosts(body: (open: OpenBench, language: GraphLanguage) => void): void {
  for (const language of firstInShort(['javascript', 'python'] as const)) {
    const without = language === 'python' ? withoutPython() : ''
    describe.skipIf(without !== '')(`a host of ${language} graphs${without}`, () =>
      body((graphs, options) => openHostBench(graphs, { maxHosts: 1, ...options, language }), language),
    )
  }
}

/** Access of each host to the run database through the broker (P-25). */
function grantOf(broker: StorageBroker, database: Database): GrantStorage {
  return () => {
    const { place, revoke } = broker.grant(operationsOf(database, TENANT))
    return { storage: { broker: { ...place } }, revoke }
  }
}

/**
 * Starts hosts for the named fixture graphs, by default for all of them. `options` may name another language than
 * TypeScript.
 */
export async function openHostBench(
  graphs?: readonly string[],
  options: Partial<GraphHostOptions> = {},
): Promise<HostBench> {
  const silent = createLogger({ level: 'silent' })
  const folder = await mkdtemp(join(tmpdir(), 'weir-hosts-'))
  const place = { url: undefined, file: join(folder, 'runs.db') }
  const database = await openRunDatabase(place)
  const store = createRunStore(database, systemClock)
  const language = options.language ?? 'javascript'
  const file = await readDeploymentFile(FIXTURES_OF[language], {})
  const broker = language === 'python' ? await startStorageBroker(silent) : undefined
  const all: GraphHostOptions = {
    file: { ...file, graphs: file.graphs.filter(({ graph_id }) => graphs?.includes(graph_id) ?? true) },
    storage: broker === undefined ? { file: place.file } : grantOf(broker, database),
    project: 'fixtures',
    environment: { PATH: process.env['PATH'], NODE_COMPILE_CACHE, VIRTUAL_ENV, SECRET_OF_SERVER: 'x' },
    stallMs: 30_000,
    cancelGraceMs: 5_000,
    logger: silent,
    record: async () => async () => undefined,
    ...options,
  }
  const hosts = createGraphHosts(all)
  await hosts.ready()

  async function job(
    graph_id: string,
    input: JsonValue,
    kwargs: Partial<RunKwargs> = {},
    thread_id: string = randomUUID(),
    traced = false,
  ): Promise<GraphJob> {
    const run_id = randomUUID()
    const admitted = await store.admit(TENANT, {
      run: {
        run_id,
        thread_id,
        assistant_id: 'assistant',
        graph_id,
        metadata: { made_by: 'test' },
        kwargs: { ...RUN_KWARGS, input, ...kwargs },
        caller: { user_id: null, api_key_id: 'key' },
      },
      multitask_strategy: 'reject',
      delay_ms: 0,
      if_not_exists: 'create',
      thread_metadata: {},
      thread_config: {},
      claim: { owner: 'test', lease_ms: 600_000, traced },
    })
    if (admitted.kind !== 'created' || admitted.claim === null)
      throw new Error(`not claimed: ${admitted.kind}`)
    const { run, ...lease } = admitted.claim
    return { tenant: TENANT, lease, run, trace_id: run.trace_id }
  }

  async function execute(claimed: GraphJob, signal = new AbortController().signal): Promise<Executed> {
    const items: StreamItem[] = []
    const traces: JsonObject[] = []
    const end = await hosts.run(
      claimed,
      {
        items: (more) => items.push(...more),
        trace: (body) => traces.push(JSON.parse(Buffer.from(body).toString('utf8')) as JsonObject),
      },
      signal,
    )
    await store.finish(claimed.lease, {
      status: end.kind === 'done' ? 'success' : end.kind === 'cancelled' ? 'interrupted' : 'error',
      error: null,
      partial_messages: null,
      state: end.state,
    })
    return { end, items, traces }
  }

  return {
    hosts,
    store,
    job,
    execute,
    run: async (graph_id, input, kwargs, thread_id) => execute(await job(graph_id, input, kwargs, thread_id)),
    launch: (change = {}) => launchOf({ ...all, ...change }, change.file ?? all.file),
    async stop() {
      await hosts.stop()
      await broker?.close()
      await database.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Parses the JSON of an event or a state; null if there is none. */
export function parse(text: string | null | undefined): JsonObject {
  return JSON.parse(text ?? 'null') as JsonObject
}

export function dataOf(items: readonly StreamItem[], event: string): JsonObject[] {
  return items.filter((item) => item.event === event).map((item) => parse(item.data))
}

export function stateOf(end: GraphEnd): JsonObject {
  return parse(end.state?.values_json)
}

export function configOf({ thread_id }: { thread_id: string }, more: JsonObject = {}): JsonObject {
  return { configurable: { thread_id, ...more } }
}

/** The body of the response to a call of a graph. */
export async function ask(bench: HostBench, call: GraphCall): Promise<unknown> {
  return JSON.parse((await bench.hosts.call(TENANT, call)).body) as unknown
}

/** The states of a thread of the graph `kinds`, newest first. */
export async function historyOf(
  bench: HostBench,
  thread_id: string,
  more: Partial<Extract<GraphCall, { name: 'history' }>> = {},
): Promise<JsonObject[]> {
  const call = {
    name: 'history',
    graph_id: 'kinds',
    config: configOf({ thread_id }),
    limit: 100,
    before: null,
    metadata: null,
  }
  return (await ask(bench, { ...call, ...more } as GraphCall)) as JsonObject[]
}
