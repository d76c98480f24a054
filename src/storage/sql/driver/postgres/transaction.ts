import type pg from 'pg'
import type { LastStatement, SqlValue, TxSession } from '../database.ts'
import { nodePostgres } from './pg.ts'

/** A transaction on a connection in pipeline mode. */
export interface PostgresTransaction {
  session: TxSession
  /**
   * Executes the statements of `atCommit` and commits. @throws the error of the first failed statement that no caller
   * awaited
   */
  commit(): Promise<void>
}

/**
 * Error code for a text that is not a number. A statement of `atCommit` fails with it on purpose, to refuse the
 * transaction.
 */
const REFUSED = '22P02'

/** Collects the statements of one turn of the event loop, so that they are written to the socket together. */
function inOneWrite({ connection: { stream } }: pg.Client): void {
  if (stream.writableCorked > 0) return
  stream.cork()
  process.nextTick(() => stream.uncork())
}

/**
 * Opens a transaction. The first statement that the caller sends must be BEGIN. `run` executes a statement on `client`.
 * After a failed statement, Postgres refuses all others up to the end of the transaction.
 */
export function openTransaction(
  client: pg.Client,
  run: (sql: string, params: readonly SqlValue[]) => Promise<pg.QueryResult>,
): PostgresTransaction {
  const last: LastStatement[] = []
  /**
   * The error of the first failed statement that no caller awaits. Later statements fail only because of it, so this
   * error is thrown instead of theirs.
   */
  let failed: { error: unknown } | undefined

  const query = async (sql: string, params: readonly SqlValue[] = []): Promise<pg.QueryResult> => {
    inOneWrite(client)
    try {
      return await run(sql, params)
    } catch (error) {
      throw failed === undefined ? error : failed.error
    }
  }
  const send = async (
    sql: string,
    params: readonly SqlValue[] = [],
    refusal?: () => Error,
  ): Promise<void> => {
    inOneWrite(client)
    try {
      await run(sql, params)
    } catch (error) {
      failed ??= { error: refusal !== undefined && isRefused(error) ? refusal() : error }
    }
  }
  return {
    session: {
      atCommit: (statement) => void last.push(statement),
      send: (sql, params) => void send(sql, params),
      query: async <Row>(sql: string, params?: readonly SqlValue[]) =>
        (await query(sql, params)).rows as Row[],
    },
    async commit() {
      for (const { sql, params, refusal } of last) void send(sql, params, refusal)
      const { command } = await query('COMMIT')
      if (failed !== undefined) throw failed.error
      if (command !== 'COMMIT') throw new TypeError('a transaction went on after a statement had failed')
    },
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof nodePostgres().DatabaseError && error.code === REFUSED
}
