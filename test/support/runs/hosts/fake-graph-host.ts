import type {
  GraphAnswer,
  GraphCall,
  GraphEnd,
  GraphEvents,
  GraphHost,
  GraphInfo,
  GraphJob,
  GraphState,
} from '../../../../src/runs/execute/graph-host.ts'
import { until } from '../../stores/clickhouse/embedded-clickhouse.ts'

/** An attempt of a run, whose graph the test simulates. */
export interface PlayedJob {
  readonly job: GraphJob
  readonly signal: AbortSignal
  items(...items: [event: string, data: unknown][]): void
  trace(body: string): void
  end(end: GraphEnd): void
  readonly ended: boolean
}

export interface FakeGraphHost {
  readonly host: GraphHost
  /** All attempts so far, in order of their start. */
  readonly jobs: PlayedJob[]
  /** The newest attempt of the run; waits until it has begun. */
  job(run_id: string, attempt?: number): Promise<PlayedJob>
  /** Sets the function that simulates the graph of each future attempt. */
  play(graph: (job: PlayedJob) => void): void
  /** The answer of `call`; default: an empty state. */
  answers: (name: string, call: GraphCall) => GraphAnswer
}

/** A thread state whose values are `values`. */
export function stateOf(values: unknown, next: string[] = []): GraphState {
  return { values_json: JSON.stringify(values), next, interrupts: {}, rest_json: JSON.stringify({ next }) }
}

/** The end of a graph with the state `values`. */
export function doneWith(values: unknown): GraphEnd {
  return { kind: 'done', state: stateOf(values), values: JSON.stringify(values) }
}

/** Simulates a run that writes three events and ends. */
export function playThree(job: PlayedJob): void {
  job.items(['metadata', { run_id: job.job.run.run_id, attempt: 1 }], ['values', 1])
  job.items(['updates', 2], ['values', 3])
  job.end(doneWith({ n: 3 }))
}

const AGENT: GraphInfo = {
  graph_id: 'agent',
  language: 'javascript',
  description: null,
  config: {},
  context: {},
  unavailable: null,
}

/** A host whose graphs the test simulates. A cancelled graph ends at once unless `stubborn` is true. */
export function createFakeGraphHost({ stubborn = false } = {}): FakeGraphHost {
  const jobs: PlayedJob[] = []
  let graph: (job: PlayedJob) => void = () => undefined
  const fake: FakeGraphHost = {
    jobs,
    answers: () => ({ body: JSON.stringify({ values: {}, next: [], tasks: [], created_at: null }) }),
    play(next) {
      graph = next
    },
    async job(run_id, attempt = 1) {
      const find = (): PlayedJob | undefined =>
        jobs.find(({ job: { run } }) => run.run_id === run_id && run.attempt === attempt)
      await until(`run ${run_id} has begun`, async () => find() !== undefined)
      return find() as PlayedJob
    },
    host: {
      graphs: () => [AGENT],
      ready: async () => undefined,
      call: async (_tenant, call) => fake.answers(call.name, call),
      stop: async () => undefined,
      run: (job, events, signal) =>
        new Promise((resolve) => {
          const played = playJob(job, events, signal, resolve)
          const cancel = (): void => played.end({ kind: 'cancelled', state: undefined })
          if (!stubborn && signal.aborted) cancel()
          else if (!stubborn) signal.addEventListener('abort', cancel)
          jobs.push(played)
          graph(played)
        }),
    },
  }
  return fake
}

function playJob(
  job: GraphJob,
  events: GraphEvents,
  signal: AbortSignal,
  resolve: (end: GraphEnd) => void,
): PlayedJob {
  let ended = false
  return {
    job,
    signal,
    items: (...items) => events.items(items.map(([event, data]) => ({ event, data: JSON.stringify(data) }))),
    trace: (body) => events.trace(new TextEncoder().encode(body)),
    end(end) {
      ended = true
      resolve(end)
    },
    get ended() {
      return ended
    },
  }
}
