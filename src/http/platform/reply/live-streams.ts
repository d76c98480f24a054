import { aborted, pause } from '../../../base/pause.ts'
import type { DeploymentFeed } from '../../../ingest/live/deployment-feed.ts'
import type { LiveFeed } from '../../../ingest/live/live-feed.ts'
import { ChangeCollector } from '../../../ingest/live/run-changes.ts'
import type { StreamPlaces } from '../../deployment/sse/sse.ts'
import type { LiveBody } from '../../api/route.ts'
import { createEventStreams, type EventStreams, type SentEvent } from './event-streams.ts'

export interface LiveTopics {
  workspace_id: string
  projects: ReadonlySet<string>
  traces: ReadonlySet<string>
  ingest: boolean
  deployments: boolean
}

/** Streams of changes for browsers, which connect again when all streams end. */
export interface LiveStreams extends Omit<EventStreams, 'body'> {
  body(topics: LiveTopics, holder: string): LiveBody
}

export interface LiveStreamsParts {
  feed: Pick<LiveFeed, 'listen'>
  deploymentFeed: Pick<DeploymentFeed, 'listen'>
  /** The health of ingest as JSON. */
  health(): unknown
  limits: StreamPlaces
  /** Pause after each event; default: 250, which is four events a second. */
  interval_ms?: number
  /** Duration after which a stream ends, so that its client authenticates again; default 10 minutes. */
  max_ms?: number
}

const INTERVAL_MS = 250
const MAX_MS = 10 * 60_000
const HEALTH_MS = 1000
/** Maximum number of runs in one event; if more changed, `more` is true and the client reads its lists again. */
const MAX_RUNS = 500
/** Maximum number of bytes, over all streams, that are sent but not yet read by clients. */
const MAX_UNSENT_BYTES = 16 << 20

/** The changes that one stream has not sent yet. */
class Pending {
  readonly #topics: LiveTopics
  readonly #runs = new ChangeCollector(MAX_RUNS)
  #more = false
  #health = ''
  #isHealthNew = false
  #areDeploymentsNew = false
  #wake = Promise.withResolvers<void>()

  constructor(topics: LiveTopics) {
    this.#topics = topics
  }

  /** Resolves when there are changes to send. */
  get ready(): Promise<void> {
    return this.#wake.promise
  }

  /** Subscribes to the feed; the returned function ends it. */
  follow(parts: LiveStreamsParts): () => void {
    const { ingest, deployments } = this.#topics
    const leaves = [this.#followRuns(parts)]
    if (ingest) leaves.push(this.#followHealth(parts))
    if (deployments)
      leaves.push(
        parts.deploymentFeed.listen(() => {
          this.#areDeploymentsNew = true
          this.#wake.resolve()
        }),
      )
    return () => {
      for (const leave of leaves) leave()
    }
  }

  #followRuns({ feed }: LiveStreamsParts): () => void {
    const { workspace_id, projects, traces } = this.#topics
    return feed.listen(workspace_id, {
      changed: (run) => {
        if (!projects.has(run.project_id) && !traces.has(run.trace_id)) return
        this.#runs.add(run)
        this.#wake.resolve()
      },
      more: (project_id) => {
        if (project_id !== undefined && !projects.has(project_id) && traces.size === 0) return
        this.#more = true
        this.#wake.resolve()
      },
    })
  }

  #followHealth({ health }: LiveStreamsParts): () => void {
    const look = (): void => this.#see(JSON.stringify(health()))
    look()
    const timer = setInterval(look, HEALTH_MS).unref()
    return () => clearInterval(timer)
  }

  /** The events since the last call. */
  *take(): Generator<SentEvent> {
    this.#wake = Promise.withResolvers()
    const { runs, more_in } = this.#runs.take()
    const more = this.#more || more_in.length > 0
    const [isHealthNew, areDeploymentsNew] = [this.#isHealthNew, this.#areDeploymentsNew]
    this.#more = this.#isHealthNew = this.#areDeploymentsNew = false
    const changed = runs.map(({ workspace_id: _ours, ...run }) => run)
    if (changed.length > 0 || more) yield { event: 'runs', data: { runs: changed, more } }
    if (isHealthNew) yield { event: 'ingest', data: JSON.parse(this.#health) }
    if (areDeploymentsNew) yield { event: 'deployments', data: {} }
  }

  #see(health: string): void {
    if (health === this.#health) return
    this.#health = health
    this.#isHealthNew = true
    this.#wake.resolve()
  }
}

export function createLiveStreams(parts: LiveStreamsParts): LiveStreams {
  const { limits, interval_ms = INTERVAL_MS, max_ms = MAX_MS } = parts
  const streams = createEventStreams({ ...limits, max_unsent_bytes: MAX_UNSENT_BYTES, max_ms })

  async function* changes(topics: LiveTopics, signal: AbortSignal): AsyncGenerator<SentEvent> {
    const pending = new Pending(topics)
    const leave = pending.follow(parts)
    const end = aborted(signal)
    try {
      yield { event: 'open', data: {} }
      for (;;) {
        await pause(interval_ms, signal)
        await Promise.race([pending.ready, end])
        if (signal.aborted) return
        yield* pending.take()
      }
    } finally {
      leave()
    }
  }

  return {
    ...streams,
    body: (topics, holder) => streams.body((signal) => changes(topics, signal), holder),
  }
}
