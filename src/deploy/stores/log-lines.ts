/** The kind of a log line: output of the build, states and checks, or output of hosts (P-39). */
export type LogKind = 'build' | 'deploy' | 'server'

/** Levels of lines, the lowest first (P-41). */
export const LINE_LEVELS = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'] as const

export type LineLevel = (typeof LINE_LEVELS)[number]

export interface NewLogLine {
  revision_id: string | null
  kind: LogKind
  level: LineLevel
  message: string
}

export interface LogLine extends NewLogLine {
  /** Epoch microseconds, unique and rising in a deployment (P-40). */
  at_us: number
}

/** A selection of lines. Times are epoch microseconds. */
export interface LogQuery {
  kinds: readonly LogKind[]
  order: 'asc' | 'desc'
  limit: number
  revision_id?: string | undefined
  /** The lowest level to include. */
  level?: LineLevel | undefined
  /** Text that the message contains, ignoring case. */
  text?: string | undefined
  /** Earliest time, inclusive. */
  from_us?: number | undefined
  /** Latest time, inclusive. */
  to_us?: number | undefined
  /** Time of the line after which the page begins, in the order of the query. */
  after_us?: number | undefined
}

export interface DeploymentLogStore {
  /**
   * Adds lines in order, at the current time or directly after the newest line. Long messages are cut. Deletes the
   * oldest lines when the deployment has more than the store's limit of bytes. Each time an eighth of the limit has
   * been added, the total is read.
   */
  append(deployment_id: string, lines: readonly NewLogLine[]): Promise<void>
  read(deployment_id: string, query: LogQuery): Promise<LogLine[]>
  /** `at_us` of the newest line; 0 if there is none. Later lines have later times. */
  newest(deployment_id: string): Promise<number>
  /** Deletes lines before `before_us`, and the oldest lines of deployments that have more bytes than the limit. */
  trim(before_us: number): Promise<void>
}

/** Maximum bytes of the lines of one deployment (P-39). */
export const MAX_LOG_BYTES = 64 << 20

/** Maximum bytes of one message; longer ones are cut. */
export const MAX_MESSAGE_BYTES = 16 * 1024
