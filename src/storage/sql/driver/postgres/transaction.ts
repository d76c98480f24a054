import type pg from 'pg'
import { keepTextShared } from '../../pieces/keep-text.ts'
import { isLargeText, type LastStatement, type SqlParam, type SqlValue, type TxSession } from '../database.ts'
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
export function openTransaction(client: pg.Client, run: Run): PostgresTransaction {
  const last: LastStatement[] = []
  /**
   * The error of the first failed statement that no caller awaits. Later statements fail only because of it, so this
   * error is thrown instead of theirs.
   */
  let failed: { error: unknown } | undefined

  const inOrder = keepsOrder(client, run)
  const query = async (sql: string, params: readonly SqlParam[] = []): Promise<pg.QueryResult> => {
    try {
      return await inOrder(sql, params)
    } catch (error) {
      throw failed === undefined ? error : failed.error
    }
  }
  const send = async (
    sql: string,
    params: readonly SqlParam[] = [],
    refusal?: () => Error,
  ): Promise<void> => {
    try {
      await inOrder(sql, params)
    } catch (error) {
      failed ??= { error: refusal !== undefined && isRefused(error) ? refusal() : error }
    }
  }
  return {
    session: {
      atCommit: (statement) => void last.push(statement),
      send: (sql, params) => void send(sql, params),
      query: async <Row>(sql: string, params?: readonly SqlParam[]) =>
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

type Run = (sql: string, params: readonly SqlValue[]) => Promise<pg.QueryResult>

/**
 * Returns a function that sends statements in the order of its calls. A statement with large texts is sent after their
 * pieces, and so are the statements behind it.
 */
function keepsOrder(
  client: pg.Client,
  run: Run,
): (sql: string, params: readonly SqlParam[]) => Promise<pg.QueryResult> {
  /** Resolves when the last statement that had to wait is sent; undefined if none waits. */
  let last: Promise<void> | undefined
  const runNow: Run = (sql, params) => {
    inOneWrite(client)
    return run(sql, params)
  }
  const query = async <Row>(sql: string, params: readonly SqlParam[] = []): Promise<Row[]> =>
    (await runNow(sql, params as readonly SqlValue[])).rows as Row[]

  const sendInTurn = async (
    before: Promise<void> | undefined,
    sql: string,
    params: readonly SqlParam[],
  ): Promise<{ answer: Promise<pg.QueryResult> }> => {
    await before
    const plain: SqlValue[] = []
    for (const param of params)
      plain.push(isLargeText(param) ? await keepTextShared({ query }, param) : param)
    return { answer: runNow(sql, plain) }
  }

  return async (sql, params) => {
    if (last === undefined && !params.some(isLargeText)) return await runNow(sql, params as SqlValue[])
    const sending = sendInTurn(last, sql, params)
    const sent = sending.then(nothing, nothing)
    last = sent
    const { answer } = await sending.finally(() => {
      if (last === sent) last = undefined
    })
    return await answer
  }
}

function nothing(): void {
  // Later statements wait only until this one is sent; its caller gets the error.
}

function isRefused(error: unknown): boolean {
  return error instanceof nodePostgres().DatabaseError && error.code === REFUSED
}
