import type { ServerResponse } from 'node:http'
import { aborted, pause } from '../../../base/pause.ts'
import type { DeploymentFeed } from '../../../ingest/live/deployment-feed.ts'
import type { LiveFeed } from '../../../ingest/live/live-feed.ts'
import { ChangeCollector } from '../../../ingest/live/run-changes.ts'
import { createHeartbeats, HEARTBEAT, HEARTBEAT_MS } from '../../deployment/sse/heartbeats.ts'
import { createPlaces, type StreamPlaces } from '../../deployment/sse/sse.ts'
import type { LiveBody } from '../../api/route.ts'
import { createOutflow } from '../../server/outflow.ts'

export interface LiveTopics {
  workspace_id: string
  projects: ReadonlySet<string>
  traces: ReadonlySet<string>
  ingest: boolean
  deployments: boolean
}

/** Streams of changes for browsers. */
export interface LiveStreams {
  /** Counts an open stream of `holder`; the returned function releases it. @throws AppError too_many_streams */
  enter(holder: string): () => void
  body(topics: LiveTopics, holder: string): LiveBody
  /** Ends all streams; their clients connect again. */
  close(): void
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
  take(): string {
    this.#wake = Promise.withResolvers()
    const { runs, more_in } = this.#runs.take()
    const more = this.#more || more_in.length > 0
    this.#more = false
    const changed = runs.map(({ workspace_id: _ours, ...run }) => run)
    const changes = changed.length > 0 || more ? frame('runs', JSON.stringify({ runs: changed, more })) : ''
    const health = this.#isHealthNew ? frame('ingest', this.#health) : ''
    const deployments = this.#areDeploymentsNew ? frame('deployments', '{}') : ''
    this.#isHealthNew = false
    this.#areDeploymentsNew = false
    return changes + health + deployments
  }

  #see(health: string): void {
    if (health === this.#health) return
    this.#health = health
    this.#isHealthNew = true
    this.#wake.resolve()
  }
}

function frame(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`
}

export function createLiveStreams(parts: LiveStreamsParts): LiveStreams {
  const { limits, interval_ms = INTERVAL_MS, max_ms = MAX_MS } = parts
  const outflow = createOutflow({ max_bytes: MAX_UNSENT_BYTES })
  const heartbeats = createHeartbeats(HEARTBEAT, HEARTBEAT_MS)
  const places = createPlaces(limits)
  const closing = new AbortController()

  const writeAll = async (res: ServerResponse, pending: Pending, holder: string): Promise<void> => {
    const gone = new AbortController()
    res.once('close', () => gone.abort())
    const ended = AbortSignal.any([closing.signal, gone.signal, AbortSignal.timeout(max_ms)])
    const end = aborted(ended)
    let text = frame('open', '{}')
    while (!ended.aborted) {
      heartbeats.wrote(res)
      if (text !== '' && !(await outflow.write(holder, res, Buffer.from(text)))) return
      await pause(interval_ms, ended)
      await Promise.race([pending.ready, end])
      text = pending.take()
    }
  }

  return {
    enter: places.enter,
    body(topics, holder) {
      const pending = new Pending(topics)
      const leave = pending.follow(parts)
      return {
        async writeTo(res) {
          heartbeats.join(res)
          await writeAll(res, pending, holder).finally(() => heartbeats.leave(res))
        },
        close: leave,
      }
    },
    close: () => closing.abort(),
  }
}
