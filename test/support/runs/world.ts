import { onTestFinished } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { createLogger } from '../../../src/base/log.ts'
import { createMetrics } from '../../../src/base/metrics.ts'
import { newUuid } from '../../../src/base/ids.ts'
import type { EventLog, StoredEvent } from '../../../src/events/event-log.ts'
import { createEventLog } from '../../../src/events/create-event-log.ts'
import { createRuns } from '../../../src/runs/create-runs.ts'
import { createStreams } from '../../../src/runs/streams/create-streams.ts'
import { createThreads } from '../../../src/runs/threads/create-threads.ts'
import { createEarlyCancels } from '../../../src/runs/execute/early-cancels.ts'
import { createUnseenEnds } from '../../../src/runs/streams-v2/follow/unseen-ends.ts'
import { createDeploymentUse, type Deployment, type DeploymentUse } from '../../../src/runs/deployment.ts'
import type { Run, Tenant, ThreadTtl } from '../../../src/runs/model.ts'
import type { RunRules } from '../../../src/runs/execute/job.ts'
import type { RunStore } from '../../../src/runs/run-store.ts'
import type { Call, Runs } from '../../../src/runs/runs.ts'
import type { JsonObject } from '../../../src/schema/json.ts'
import type { Streams } from '../../../src/runs/streams/streams.ts'
import type { Threads } from '../../../src/runs/threads/threads.ts'
import { createWaiters } from '../../../src/runs/execute/waiters.ts'
import { createLocalWake, type Wake } from '../../../src/runs/execute/wake.ts'
import { startWorker, type Worker } from '../../../src/runs/execute/worker.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { createSqlEventStore, type EventWire } from '../../../src/storage/sql/events/event-store.ts'
import { openRunDatabase } from '../../../src/storage/sql/driver/open-run-database.ts'
import { createRunEvents } from '../../../src/storage/sql/events/run-events.ts'
import { createRunStore } from '../../../src/storage/sql/runs/run-store.ts'
import { createFakeGraphHost, type FakeGraphHost } from './hosts/fake-graph-host.ts'

/** The runs of a deployment, over a real store and a graph that the test simulates. */
export interface RunWorld {
  readonly call: Call
  readonly store: RunStore
  readonly worker: Worker
  readonly runs: Runs
  readonly threads: Threads
  readonly streams: Streams
  readonly events: EventLog
  readonly fake: FakeGraphHost
  /** The deployments whose runs the worker executes; a test may replace one by another revision of it. */
  readonly deployments: Map<string, Deployment>
  /** Runs whose end was reported, with their values. */
  readonly ended: { run: Run; values_json: string | null }[]
  readonly traces: { run_id: string; body: string }[]
  /** An empty thread. */
  thread(): Promise<string>
  /** The events in the log of a thread, without those that only protocol v2 reads. */
  eventsOf(thread_id: string): Promise<StoredEvent[]>
}

export interface WorldOptions {
  /** The context of the assistant. */
  context?: JsonObject
  state?: RunState
  wake?: Wake
  owner?: string
  concurrency?: number
  lease_ms?: number
  stubborn?: boolean
  fake?: FakeGraphHost
  use?: DeploymentUse
  tenant?: Tenant
  /** Graphs of the server; by default the server accepts runs of any graph. */
  graphs?: string[]
  rules?: Partial<RunRules>
  /** See `WorkerDeps.abandonedAbove`. */
  abandonedAbove?: () => number | undefined
  /** Retention of threads that are created without a retention of their own. */
  defaultTtl?: ThreadTtl
  assertRoom?: () => Promise<void>
}

/** Runs and events of a process. */
export interface RunState {
  store: RunStore
  events: EventLog
}

const QUIET = createLogger({ level: 'silent' })
const BOUNDS = { events: 20_000, chars: 1 << 26, age_ms: 3_600_000, total_chars: 1e12 }

/** Runs and events of one process on a database. They must be closed before the database. */
export function openRunState(database: Database, wire?: EventWire): RunState & { close(): Promise<void> } {
  const clock = systemClock
  const kept = createSqlEventStore({ database, clock, bounds: BOUNDS, ...(wire && { wire }) })
  const events = createEventLog({ store: kept, logger: QUIET, metrics: createMetrics() })
  const committed: typeof events.committed = (thread, chunk) => events.committed(thread, chunk)
  const store = createRunStore(database, clock, createRunEvents({ clock, wire, committed }))
  return { store, events, close: () => events.close() }
}

/** Opens runs and events of a process in memory; they are closed after the test. */
export async function openMemoryRunState(): Promise<RunState> {
  const database = await openRunDatabase({ url: undefined, file: ':memory:' })
  const state = openRunState(database)
  onTestFinished(async () => {
    await state.close()
    await database.close()
  })
  return state
}

const TENANT: Tenant = { workspace_id: newUuid(), deployment_id: newUuid() }

export async function openRunWorld(options: WorldOptions = {}): Promise<RunWorld> {
  const { tenant = TENANT, concurrency = 16, lease_ms = 10_000, wake = createLocalWake() } = options
  const { store, events } = options.state ?? (await openMemoryRunState())
  const { defaultTtl = null } = options
  const fake = options.fake ?? createFakeGraphHost({ stubborn: options.stubborn ?? false })
  const waiters = createWaiters()
  const earlyCancels = createEarlyCancels(systemClock)
  const unseenEnds = createUnseenEnds((message) => wake.send(message))
  const ended: RunWorld['ended'] = []
  const traces: RunWorld['traces'] = []
  const { graphs } = options
  const deployment = {
    ...tenant,
    name: 'test',
    host: fake.host,
    revision_id: null,
    concurrency,
    ...(graphs && { graphs: () => graphs }),
  }
  const deployments = new Map<string, Deployment>([[tenant.deployment_id, deployment]])
  const worker = await startWorker({
    store,
    events,
    wake,
    waiters,
    earlyCancels,
    unseenEnds,
    deployments,
    use: options.use ?? createDeploymentUse(),
    ...(options.abandonedAbove && { abandonedAbove: options.abandonedAbove }),
    claimer: { owner: options.owner ?? newUuid(), lease_ms, traced: true },
    rules: { timeout_ms: 60_000, max_attempts: 3, retry_ms: 1, unlogged_ms: 60_000, ...options.rules },
    record: ({ run_id }, body) => void traces.push({ run_id, body: new TextDecoder().decode(body) }),
    ended: (_tenant, run, values_json) => void (run && ended.push({ run, values_json })),
    clock: systemClock,
    logger: QUIET,
    metrics: createMetrics(),
  })
  onTestFinished(() => worker.stop(0))
  const assistant = {
    assistant_id: ASSISTANT,
    graph_id: 'agent',
    config: {},
    context: options.context ?? {},
    metadata: { created_by: 'system' },
  }
  const findAssistant = async (_tenant: Tenant, name: string) =>
    name === 'agent' || name === ASSISTANT ? assistant : undefined
  const runs = createRuns({
    store,
    worker,
    waiters,
    earlyCancels,
    wake,
    findAssistant,
    traceTotals: async () => null,
    ...(options.assertRoom && { assertRoom: options.assertRoom }),
    defaultTtl,
    clock: systemClock,
    logger: QUIET,
  })
  const call: Call = { tenant, caller: { user_id: null, api_key_id: newUuid() }, headers: {} }
  const hostOf = () => fake.host
  const threads = createThreads({
    store,
    runs,
    events,
    hostOf,
    findAssistant,
    defaultTtl,
    clock: systemClock,
  })
  return {
    call,
    store,
    worker,
    runs,
    threads,
    streams: createStreams({ runs, threads, events, unseenEnds, clock: systemClock, logger: QUIET }),
    events,
    fake,
    deployments,
    ended,
    traces,
    thread: async () => (await threads.create(call, {})).thread_id,
    async eventsOf(thread_id) {
      const found: StoredEvent[] = []
      const end = new AbortController()
      await events.append({ ...tenant, thread_id }, [{ event: 'mark', data: '0', run_id: null }], null)
      for await (const batch of events.read({ ...tenant, thread_id }, 'start', end.signal)) {
        const kept = batch.flatMap((item) => ('gap' in item ? [] : [item]))
        found.push(...kept.filter(({ event }) => event !== 'mark' && !event.startsWith('v2/')))
        if (kept.at(-1)?.event === 'mark') break
      }
      end.abort()
      return found
    },
  }
}

/** Id of the default assistant of the graph `agent`. */
const ASSISTANT = 'fe096781-5601-53d2-b2f6-0d3403f7e9ca'

/** The signal of a client that stays connected. */
export function staying(): AbortSignal {
  return new AbortController().signal
}
