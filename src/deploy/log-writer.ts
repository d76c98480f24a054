import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import { isObject } from '../schema/json.ts'
import {
  type DeploymentLogStore,
  LINE_LEVELS,
  type LineLevel,
  MAX_MESSAGE_BYTES,
  type NewLogLine,
} from './stores/log-lines.ts'

/** Writes lines; callers do not wait for the store. */
export interface DeploymentLog {
  /**
   * Drops and counts lines beyond 500 a second of one host, whose process id is `host` (P-39), and lines beyond 4,000
   * that wait for the store.
   */
  write(deployment_id: string, line: NewLogLine, host?: number): void
  /** Resolves when all earlier lines, and a line with the number of dropped ones, are stored or lost. */
  flushed(): Promise<void>
  /**
   * Calls `listener` whenever this server has stored lines of the deployment; the returned function removes the
   * listener.
   */
  listen(deployment_id: string, listener: () => void): () => void
}

export interface DeploymentLogOptions {
  store: Pick<DeploymentLogStore, 'append'>
  clock: Clock
  logger: Logger
}

interface Waiting {
  lines: NewLogLine[]
  stored: Promise<void> | undefined
  /** The current second, and the number of lines that each host has printed in it. */
  second: number
  printed: Map<number | undefined, number>
  /** Number of dropped lines that no line reports yet, and the last one of them. */
  dropped: number
  last: NewLogLine | undefined
}

const SECOND_MS = 1_000
const PER_SECOND = 500
/** Maximum number of lines that wait for the store. */
const MAX_WAITING = 4_000
const BATCH = 500

export function createDeploymentLog({ store, clock, logger }: DeploymentLogOptions): DeploymentLog {
  const byDeployment = new Map<string, Waiting>()
  const listeners = createListeners()
  const secondNow = (): number => Math.floor(clock.now() / SECOND_MS)
  const storeLines = async (deployment_id: string, waiting: Waiting): Promise<void> => {
    while (waiting.lines.length > 0) {
      const lines = waiting.lines.splice(0, BATCH)
      await store
        .append(deployment_id, lines)
        .catch((error: unknown) =>
          logger.warn(
            { err: error, deployment_id, lines: lines.length },
            'lines of a deployment were not stored',
          ),
        )
      listeners.call(deployment_id)
    }
    waiting.stored = undefined
    // The entry stays until its second has passed, because all lines of that second count together.
    setTimeout(() => forget(deployment_id, waiting), SECOND_MS).unref()
  }
  const forget = (deployment_id: string, waiting: Waiting): void => {
    const isInUse = waiting.lines.length > 0 || waiting.stored !== undefined || waiting.dropped > 0
    const isOver = secondNow() !== waiting.second && byDeployment.get(deployment_id) === waiting
    if (isOver && !isInUse) byDeployment.delete(deployment_id)
  }
  const storeSoon = (deployment_id: string, waiting: Waiting): void => {
    if (waiting.lines.length > 0)
      waiting.stored ??= Promise.resolve().then(() => storeLines(deployment_id, waiting))
  }
  const report = (deployment_id: string, waiting: Waiting): void => {
    reportDropped(waiting)
    storeSoon(deployment_id, waiting)
  }
  return {
    write(deployment_id, line, host) {
      const waiting = byDeployment.get(deployment_id) ?? newWaiting()
      byDeployment.set(deployment_id, waiting)
      if (mayStay(waiting, { line, host, second: secondNow() })) {
        reportDropped(waiting)
        // The store cuts messages to a number of bytes. This earlier cut limits the memory of waiting lines.
        waiting.lines.push({ ...line, message: line.message.slice(0, MAX_MESSAGE_BYTES) })
        storeSoon(deployment_id, waiting)
        return
      }
      // The next kept line reports the dropped ones; the timer does so if none is written.
      if (waiting.dropped === 0) setTimeout(() => report(deployment_id, waiting), SECOND_MS).unref()
      waiting.dropped += 1
      waiting.last = line
    },
    async flushed() {
      for (const [deployment_id, waiting] of byDeployment) {
        report(deployment_id, waiting)
        await waiting.stored
      }
    },
    listen: listeners.add,
  }
}

/** The functions that are called when lines of a deployment were stored. */
function createListeners(): { add: DeploymentLog['listen']; call(deployment_id: string): void } {
  const listeners = new Map<string, Set<() => void>>()
  return {
    add(deployment_id, listener) {
      const all = listeners.get(deployment_id) ?? new Set()
      listeners.set(deployment_id, all.add(listener))
      return () => {
        all.delete(listener)
        if (all.size === 0 && listeners.get(deployment_id) === all) listeners.delete(deployment_id)
      }
    },
    call(deployment_id) {
      for (const listener of listeners.get(deployment_id) ?? []) listener()
    },
  }
}

function newWaiting(): Waiting {
  return { lines: [], stored: undefined, second: 0, printed: new Map(), dropped: 0, last: undefined }
}

/** Whether a line is kept. */
function mayStay(
  waiting: Waiting,
  { line, host, second }: { line: NewLogLine; host: number | undefined; second: number },
): boolean {
  if (second !== waiting.second) Object.assign(waiting, { second, printed: new Map() })
  const printed = waiting.printed.get(host) ?? 0
  const isPrinted = line.kind === 'server'
  if (waiting.lines.length >= MAX_WAITING || (isPrinted && printed >= PER_SECOND)) return false
  if (isPrinted) waiting.printed.set(host, printed + 1)
  return true
}

/** Adds a line with the number of dropped lines, if there are any. */
function reportDropped(waiting: Waiting): void {
  const { dropped, last, lines } = waiting
  if (dropped === 0 || last === undefined) return
  const message = `${dropped} lines were dropped: more than ${PER_SECOND} in a second, or than ${MAX_WAITING} that wait to be stored.`
  lines.push({ ...last, kind: 'server', level: 'WARNING', message })
  Object.assign(waiting, { dropped: 0, last: undefined })
}

/** A line that a host has printed. If it is JSON with a level, the line has this level (P-41). */
export function printedLine(from: 'stdout' | 'stderr', text: string): Pick<NewLogLine, 'level' | 'message'> {
  return { level: levelIn(text) ?? (from === 'stdout' ? 'INFO' : 'WARNING'), message: text }
}

function levelIn(text: string): LineLevel | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const line: unknown = JSON.parse(text)
    const level = isObject(line) ? String(line['level']).toUpperCase() : ''
    return LINE_LEVELS.find((known) => known === level || known === `${level}ING`)
  } catch {
    return undefined
  }
}
