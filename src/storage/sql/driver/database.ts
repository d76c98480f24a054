import { assertWholeNumber } from '../../whole-number.ts'
import type { LargeText } from '../pieces/large-text.ts'

/**
 * The type of a column or a parameter. Numbers are whole; a fraction is sent as text. Times are epoch milliseconds,
 * flags are 0 or 1.
 */
export type SqlValue = string | number | null

/** A parameter of a statement; a large text only in a transaction. */
export type SqlParam = SqlValue | LargeText

/** Statements on one connection. */
export interface SqlSession {
  /**
   * Runs one statement with `?` placeholders and returns its rows; empty for a statement that returns none. `Row` is
   * the type of a row with the columns as selected; it is not checked. Integers of any size are returned as numbers.
   * Text parameters are converted by `storableText`. @throws AppError conflict when a unique constraint refuses the
   * statement, store_unavailable when the database does not answer, disk_full or disk_unwritable when its disk refuses
   * writes; other refusals throw the engine's own error
   */
  query<Row = unknown>(sql: string, params?: readonly SqlParam[]): Promise<Row[]>
  /** Keeps a value for whoever follows the commits (`follow-commits.ts`); absent if nobody does. */
  note?(value: unknown): void
}

/** A statement that is executed with the commit. */
export interface LastStatement {
  sql: string
  params: readonly SqlValue[]
  /** Returns the error of the transaction if the statement fails. */
  refusal(): Error
}

/**
 * Statements of a transaction, executed in the order of the calls. On Postgres, statements of one turn of the event
 * loop are sent in one message.
 */
export interface TxSession extends SqlSession {
  /**
   * Runs a statement whose rows are not needed, without waiting for its end; the next statement and the commit are
   * executed after it. If it fails, the transaction fails with its error.
   */
  send(sql: string, params?: readonly SqlParam[]): void
  /**
   * Executes the statement right before the commit, in the same message, so that its rows are locked only during the
   * commit. Undefined on engines without row locks.
   */
  atCommit?(statement: LastStatement): void
}

/**
 * A relational database, local or over a network. `bytes` is the approximate size of the texts in parameters and rows,
 * if it may be large.
 */
export interface Database extends SqlSession {
  readonly dialect: 'sqlite' | 'postgres'
  /** Large rows of SQLite are read in a separate thread. */
  query<Row = unknown>(sql: string, params?: readonly SqlParam[], bytes?: number): Promise<Row[]>
  /**
   * Runs `work` in a transaction; commits when it resolves, rolls back when it rejects. From its first statement to its
   * end no other transaction of the same `lock` runs, in any process, and each statement sees all earlier commits. So
   * if the writes of a transaction depend on its reads, it must use the same lock as every writer of the rows that it
   * reads. Transactions of other locks, and statements outside of transactions, may run at the same time. A failed
   * statement ends the transaction, and `work` must not continue after it. `work` runs again if the engine aborted it
   * in favour of another transaction. So it must have no side effects except through its session, and it must not use
   * the database itself.
   * @throws AppError store_unavailable: nothing was stored, unless the connection was lost during the commit itself
   */
  tx<T>(lock: string, work: (session: TxSession) => Promise<T>, bytes?: number): Promise<T>
  /** Closes all connections after the running statements have finished; may be called again. */
  close(): Promise<void>
}

/** Value of `bytes` for statements that read whole tables. SQLite runs them outside of the main thread. */
export const WHOLE_TABLE = Number.MAX_SAFE_INTEGER

/**
 * Converts text to a form that every engine can store: unpaired surrogates and NUL, which Postgres refuses, become
 * U+FFFD.
 */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

/**
 * Converts parameters to a form that every engine can store. @throws TypeError for a number with a fraction
 */
export function storableParams(params: readonly SqlValue[]): SqlValue[] {
  return params.map((param, at) => {
    if (typeof param === 'number') assertWholeNumber(param, `parameter ${at + 1}`)
    return typeof param === 'string' ? storableText(param) : param
  })
}

export function isLargeText(param: SqlParam): param is LargeText {
  return typeof param === 'object' && param !== null
}
