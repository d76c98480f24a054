import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ChdbResult, Session } from 'chdb'
import { createDurableNames } from './durable-names.ts'
import { defaultSettings, type EngineMemory, engineConfigXml } from './engine-config.ts'
import { EngineException } from './exception.ts'
import { createLane, type Lane } from './lane.ts'
import { createMergeYield } from './merge-threads.ts'
import {
  beginPreamble,
  endPreamble,
  newSessionState,
  preamble,
  type QueryContext,
  type SessionState,
  staleParam,
} from './session-state.ts'
import { insertFromFile, type Statement } from './statement.ts'

/** The effect of a statement without rows in its result. */
export interface ChangeResult {
  readonly rows: number
  readonly bytes: number
  readonly seconds: number
  /** Result text, empty for nearly all changes. */
  readonly output: Uint8Array
}

/** The chDB engine. At the same time it executes at most one insert, at most one other change, and several reads. */
export interface Engine {
  /**
   * Runs a read and passes its bytes to `write` in pieces; waits for `write` before the next piece. Aborting the signal
   * kills the query in the engine, which frees its session. Rejects with an EngineException or the engine's error.
   */
  read(
    statement: Statement & { kind: 'read' },
    context: QueryContext,
    signal: AbortSignal,
    write: (bytes: Uint8Array) => Promise<void>,
  ): Promise<void>
  /** Inserts the rows of a file in the work folder; resolves when they are on disk. */
  insertFile(
    statement: Statement & { kind: 'insert' },
    file: string,
    context: QueryContext,
  ): Promise<ChangeResult>
  /** Runs any other statement; resolves when its effect is on disk. */
  change(sql: string, context: QueryContext): Promise<ChangeResult>
  /** Waits for running statements and closes the sessions. The engine cannot be used afterwards. */
  close(): Promise<void>
}

const READ_SESSIONS = 4
const MAX_WAITING = 128
const TRIM_AFTER_MS = 2_000
/** Formats that can be streamed: their output in many pieces is the same as in one piece. */
const STREAMED = new Set(['RowBinary', 'JSONEachRow', 'TabSeparated', 'TSV', 'CSV', 'JSONCompactEachRow'])

interface OwnSession {
  readonly session: Session
  readonly state: SessionState
}

interface Lanes {
  readonly inserts: Lane<OwnSession>
  readonly changes: Lane<OwnSession>
  readonly reads: Lane<OwnSession>
  /** For the engine's internal statements: killing reads, releasing memory. */
  readonly control: Lane<OwnSession>
  readonly sessions: readonly OwnSession[]
}

/**
 * Opens the engine on a data folder, with `workDir` for its configuration file. The folder must not be open
 * in another process. Throws chDB's own error when the engine cannot be loaded or opened.
 */
export async function openEngine(
  path: string,
  workDir: string,
  memory: EngineMemory,
  config = engineConfigXml(memory),
): Promise<Engine> {
  const chdb = await import('chdb')
  const configFile = join(workDir, 'engine.xml')
  await writeFile(configFile, config)
  const lanes = openLanes(() => new chdb.Session(path, { connectionArgs: [`--config-file=${configFile}`] }))
  const { inserts, changes, reads, control } = lanes
  const trimmer = createTrimmer(lanes)
  const inSession = createSessionUse(defaultSettings(memory), trimmer.later)
  const names = createDurableNames(path)
  await names.syncAll()
  const lowerMerges = createMergeYield()
  let reading = 0

  return {
    async read(statement, context, signal, write) {
      reading += 1
      const tag = `/*weir-read-${reading}*/`
      const kill = () => void killTagged(control, tag)
      const copy = async (session: Session) => {
        signal.addEventListener('abort', kill, { once: true })
        try {
          await copyResult(session, `${tag} ${statement.sql}`, statement.format, write)
        } finally {
          signal.removeEventListener('abort', kill)
        }
      }
      await inSession(reads, statement.sql, context, copy, signal)
    },
    async insertFile(statement, file, context) {
      const sql = insertFromFile(statement, file)
      const result = await inSession(inserts, sql, context, (session) => session.queryAsync(sql))
      // If the engine takes the path for a pattern and no file matches, it inserts nothing and reports no error.
      if (result.rowsRead === 0) throw new EngineException(1001, 'STD_EXCEPTION', 'The insert wrote no rows.')
      await names.syncTables()
      return changeResult(result)
    },
    async change(sql, context) {
      const result = await inSession(changes, sql, context, (session) => session.queryAsync(sql))
      await names.syncAll()
      await lowerMerges()
      return changeResult(result)
    },
    async close() {
      trimmer.stop()
      await Promise.all([inserts.idle(), changes.idle(), reads.idle(), control.idle()])
      for (const own of lanes.sessions) own.session.close()
      await chdb.drainPending()
      await rm(configFile, { force: true })
    },
  }
}

type Use<R> = (session: Session) => Promise<R>

/**
 * Returns a function that prepares the lane's next free session for a statement, runs `use` in it, and then calls
 * `afterwards`.
 */
function createSessionUse(defaults: ReadonlyMap<string, string>, afterwards: () => void) {
  return <R>(
    lane: Lane<OwnSession>,
    sql: string,
    asked: QueryContext,
    use: Use<R>,
    signal?: AbortSignal,
  ): Promise<R> => {
    const context = { ...asked, settings: new Map([...defaults, ...asked.settings]) }
    const work = async (own: OwnSession): Promise<R> => {
      await prepare(own, sql, context)
      signal?.throwIfAborted()
      return use(own.session)
    }
    return lane.run(work, signal).finally(afterwards)
  }
}

function openLanes(openSession: () => Session): Lanes {
  const sessions = Array.from({ length: READ_SESSIONS + 3 }, () => ({
    session: openSession(),
    state: newSessionState(),
  }))
  return {
    inserts: createLane('insert', sessions.slice(0, 1), MAX_WAITING),
    changes: createLane('change', sessions.slice(1, 2), MAX_WAITING),
    control: createLane('control', sessions.slice(2, 3), Number.POSITIVE_INFINITY),
    reads: createLane('read', sessions.slice(3), MAX_WAITING),
    sessions,
  }
}

/** Releases memory when no statement has run for a while: request buffers, and the allocator's free pages. */
function createTrimmer({ reads, inserts, changes, control }: Lanes): { later: () => void; stop: () => void } {
  let timer: NodeJS.Timeout | undefined
  const trim = async ({ session }: OwnSession) => {
    globalThis.gc?.()
    await session.queryAsync('SYSTEM JEMALLOC PURGE').catch(() => undefined)
  }
  const trimWhenIdle = () => {
    if (reads.busy + inserts.busy + changes.busy === 0) void control.run(trim)
  }
  return {
    later() {
      clearTimeout(timer)
      timer = setTimeout(trimWhenIdle, TRIM_AFTER_MS).unref()
    },
    stop: () => clearTimeout(timer),
  }
}

async function killTagged(control: Lane<OwnSession>, tag: string): Promise<void> {
  const sql = `KILL QUERY WHERE startsWith(query, '${tag}') ASYNC`
  await control.run(({ session }) => session.queryAsync(sql)).catch(() => undefined)
}

async function prepare(own: OwnSession, sql: string, context: QueryContext): Promise<void> {
  const stale = staleParam(own.state, sql, context)
  if (stale !== undefined) {
    throw new EngineException(456, 'UNKNOWN_QUERY_PARAMETER', `Substitution \`${stale}\` is not set.`)
  }
  const statements = preamble(own.state, context)
  if (statements.length === 0) return
  beginPreamble(own.state, context)
  await own.session.queryAsync(statements.join('; '))
  endPreamble(own.state, context)
}

async function copyResult(
  session: Session,
  sql: string,
  format: string,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  if (!STREAMED.has(format)) {
    const result = await session.queryAsync(sql, { format })
    await write(result.bytes())
    return
  }
  try {
    for await (const chunk of session.queryStream(sql, { format })) await write(chunk.raw())
  } catch (error) {
    // chDB keeps the memory of a failed stream until the session's next statement.
    await session.queryAsync('SELECT 1').catch(() => undefined)
    throw error
  }
}

function changeResult(result: ChdbResult): ChangeResult {
  return { rows: result.rowsRead, bytes: result.bytesRead, seconds: result.elapsed, output: result.bytes() }
}
