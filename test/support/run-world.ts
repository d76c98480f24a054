import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { createLogger } from '../../src/base/log.ts'
import { createMetrics } from '../../src/base/metrics.ts'
import { newUuid } from '../../src/base/ids.ts'
import type { EventLog, StoredEvent } from '../../src/events/event-log.ts'
import { createMemoryEventLog } from '../../src/events/memory-event-log.ts'
import { createRuns } from '../../src/runs/create-runs.ts'
import { createThreads } from '../../src/runs/create-threads.ts'
import { createEarlyCancels } from '../../src/runs/early-cancels.ts'
import type { Run, Tenant } from '../../src/runs/model.ts'
import type { RunRules } from '../../src/runs/run-job.ts'
import type { RunStore } from '../../src/runs/run-store.ts'
import type { Call, Runs } from '../../src/runs/runs.ts'
import type { Threads } from '../../src/runs/threads.ts'
import { createWaiters } from '../../src/runs/waiters.ts'
import { createLocalWake, type Wake } from '../../src/runs/wake.ts'
import { startWorker, type Worker } from '../../src/runs/worker.ts'
import { openRunDatabase } from '../../src/storage/sql/open-run-database.ts'
import { createRunStore } from '../../src/storage/sql/run-store.ts'
import { createFakeGraphHost, type FakeGraphHost } from './fake-graph-host.ts'

/** Runs as a deployment has them, over a real store and a graph that the test plays. */
export interface RunWorld {
  readonly call: Call
  readonly store: RunStore
  readonly worker: Worker
  readonly runs: Runs
  readonly threads: Threads
  readonly events: EventLog
  readonly fake: FakeGraphHost
  /** Runs that were reported as ended, and with which values. */
  readonly ended: { run: Run; values_json: string | null }[]
  readonly traces: { run_id: string; body: string }[]
  /** An empty thread. */
  thread(): Promise<string>
  /** What the log of a thread holds. */
  eventsOf(thread_id: string): Promise<StoredEvent[]>
}

export interface WorldOptions {
  store?: RunStore
  wake?: Wake
  owner?: string
  concurrency?: number
  lease_ms?: number
  stubborn?: boolean
  fake?: FakeGraphHost
  tenant?: Tenant
  rules?: Partial<RunRules>
}

/** A run store in memory; closed after the test. */
export async function openMemoryRunStore(): Promise<RunStore> {
  const database = await openRunDatabase({ url: undefined, file: ':memory:' })
  onTestFinished(() => database.close())
  return createRunStore(database, systemClock)
}

const QUIET = createLogger({ level: 'silent' })
const TENANT: Tenant = { workspace_id: newUuid(), deployment_id: newUuid() }

export async function openRunWorld(options: WorldOptions = {}): Promise<RunWorld> {
  const { tenant = TENANT, concurrency = 16, lease_ms = 10_000, wake = createLocalWake() } = options
  const store = options.store ?? (await openMemoryRunStore())
  const fake = options.fake ?? createFakeGraphHost({ stubborn: options.stubborn ?? false })
  const events = createMemoryEventLog(systemClock)
  const waiters = createWaiters()
  const earlyCancels = createEarlyCancels(systemClock)
  const ended: RunWorld['ended'] = []
  const traces: RunWorld['traces'] = []
  const deployment = { ...tenant, name: 'test', host: fake.host, concurrency }
  const worker = await startWorker({
    store,
    events,
    wake,
    waiters,
    earlyCancels,
    deployments: new Map([[tenant.deployment_id, deployment]]),
    claimer: { owner: options.owner ?? newUuid(), lease_ms, traced: true },
    rules: { timeout_ms: 60_000, max_attempts: 3, retry_ms: 1, ...options.rules },
    record: ({ run_id }, body) => void traces.push({ run_id, body: new TextDecoder().decode(body) }),
    ended: (_tenant, run, values_json) => void ended.push({ run, values_json }),
    clock: systemClock,
    logger: QUIET,
    metrics: createMetrics(),
  })
  onTestFinished(() => worker.stop(0))
  const runs = createRuns({
    store,
    worker,
    waiters,
    earlyCancels,
    wake,
    findAssistant: async (_tenant, name) =>
      name === 'agent' || name === ASSISTANT
        ? {
            assistant_id: ASSISTANT,
            graph_id: 'agent',
            config: {},
            context: {},
            metadata: { created_by: 'system' },
          }
        : undefined,
    traceTotals: async () => null,
    clock: systemClock,
    logger: QUIET,
  })
  const call: Call = { tenant, caller: { user_id: null, api_key_id: newUuid() }, headers: {} }
  const hostOf = () => fake.host
  const threads = createThreads({
    store,
    runs,
    events,
    crons: { removeOfThread: async () => undefined },
    hostOf,
    defaultTtl: null,
    clock: systemClock,
  })
  return {
    call,
    store,
    worker,
    runs,
    threads,
    events,
    fake,
    ended,
    traces,
    thread: async () => (await threads.create(call, {})).thread_id,
    async eventsOf(thread_id) {
      const found: StoredEvent[] = []
      const end = new AbortController()
      await events.append({ ...tenant, thread_id }, [{ event: 'mark', data: '0', run_id: null }], null)
      for await (const event of events.read({ ...tenant, thread_id }, 'start', end.signal)) {
        if ('gap' in event) continue
        if (event.event !== 'mark') found.push(event)
        else if (event.data === '0') break
      }
      end.abort()
      return found
    },
  }
}

/** Of the graph `agent`. */
const ASSISTANT = 'fe096781-5601-53d2-b2f6-0d3403f7e9ca'

/** A signal of a client that stays. */
export function staying(): AbortSignal {
  return new AbortController().signal
}
