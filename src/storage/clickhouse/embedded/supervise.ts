import { setTimeout as delay } from 'node:timers/promises'
import { announce } from './address.ts'
import { type EmbeddedClickHouse, type EmbeddedOptions, startEmbeddedClickHouse } from './start.ts'

/** An embedded engine that is started again when its process ends unexpectedly. */
export interface SupervisedClickHouse {
  /** The URL stays the same after a restart. */
  readonly url: string
  readonly username: string
  readonly password: string
  /** Its work folder, in which it reads files with the rows of inserts. */
  readonly rowsFolder: string
  /** Pid of the current child; it changes with a restart. */
  readonly pid: number
  readonly restarts: number
  /** Ends the child, which is not started again. */
  stop(): Promise<void>
}

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 5_000
/** If a child has run for this time, the pause before the next restart is short again. */
const WELL_AFTER_MS = 60_000

/**
 * Starts the embedded engine as `startEmbeddedClickHouse` does, with its errors, and keeps it running: when the child
 * exits, for example because it used too much memory, a new child is started on the same port, after a pause that grows
 * with each successive failure. Meanwhile statements fail with `store_unavailable`.
 */
export async function superviseEmbeddedClickHouse(options: EmbeddedOptions): Promise<SupervisedClickHouse> {
  const { logger } = options
  const stopping = new AbortController()
  const first = await startEmbeddedClickHouse(options)
  const { password } = first
  const port = Number(new URL(first.url).port)
  const again: EmbeddedOptions = { ...options, port, password, signal: stopping.signal }
  const withdraw = await announce(options.dataDir, first)
  let engine = first
  let restarts = 0
  const watching = watch()

  async function watch(): Promise<void> {
    let pause = FIRST_PAUSE_MS
    for (;;) {
      const since = performance.now()
      const exit = await engine.exited
      if (stopping.signal.aborted) return
      if (performance.now() - since > WELL_AFTER_MS) pause = FIRST_PAUSE_MS
      logger.error({ ...exit, pause_ms: pause }, 'embedded ClickHouse ended by itself; starting it again')
      const next = await restart(pause)
      if (next === undefined) return
      engine = next
      restarts += 1
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
    }
  }

  async function restart(firstPause: number): Promise<EmbeddedClickHouse | undefined> {
    for (let pause = firstPause; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        await delay(pause, undefined, { signal: stopping.signal })
        return await startEmbeddedClickHouse(again)
      } catch (error) {
        if (stopping.signal.aborted) return undefined
        logger.error({ err: error }, 'embedded ClickHouse did not start again')
      }
    }
  }

  return {
    url: first.url,
    username: first.username,
    password: first.password,
    rowsFolder: first.rowsFolder,
    get pid() {
      return engine.pid
    },
    get restarts() {
      return restarts
    },
    async stop() {
      stopping.abort()
      await withdraw()
      await engine.stop()
      await watching
    },
  }
}
