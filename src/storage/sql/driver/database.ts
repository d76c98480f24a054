/** The type of a column or a parameter. Times are epoch milliseconds, flags are 0 or 1. */
export type SqlValue = string | number | null

/** Statements on one connection. */
export interface SqlSession {
  /**
   * Runs one statement with `?` placeholders and returns its rows; empty for a statement that returns none. `Row` names
   * the columns as selected; the caller is trusted, the type is not checked. Integers of any size are returned as
   * numbers; text is stored as by `storableText`. @throws AppError conflict when a unique constraint refuses the
   * statement, store_unavailable when the database does not answer, disk_full or disk_unwritable when its disk refuses
   * writes; other refusals throw the engine's own error
   */
  query<Row = unknown>(sql: string, params?: readonly SqlValue[]): Promise<Row[]>
}

/** A statement that is executed with the commit. */
export interface LastStatement {
  sql: string
  params: readonly SqlValue[]
  /** The error of the transaction when the statement fails. */
  refusal(): Error
}

/** Statements of a transaction, executed in the order of the calls. On Postgres those of one turn share a message. */
export interface TxSession extends SqlSession {
  /**
   * Runs a statement whose rows are not needed and does not wait for it; the next statement and the commit follow it at
   * once. When it fails, the transaction fails with its error.
   */
  send(sql: string, params?: readonly SqlValue[]): void
  /**
   * Executes the statement right before the commit, in one message with it. The rows that it locks stay locked only
   * while the commit runs. Undefined on engines without row locks.
   */
  atCommit?(statement: LastStatement): void
}

/**
 * A relational database. All methods are asynchronous, as a database over a network needs. `bytes` is the approximate
 * size of the texts in parameters and rows, if it may be large.
 */
export interface Database extends SqlSession {
  readonly dialect: 'sqlite' | 'postgres'
  /** Large rows of SQLite are read in a separate thread. */
  query<Row = unknown>(sql: string, params?: readonly SqlValue[], bytes?: number): Promise<Row[]>
  /**
   * Runs `work` in a transaction; commits when it resolves, rolls back when it rejects. From its first statement to its
   * end no other transaction of the same `lock` runs, in any process, and each statement sees all earlier commits: so a
   * caller whose writes depend on its reads must use the lock that every writer of those rows uses. Transactions of
   * other locks may run at the same time, and so may statements outside of any transaction. A failed statement ends the
   * transaction: `work` must not continue after it. `work` may run again if the engine aborted it in favour of another
   * transaction: it must have no side effects except through its session, and must not use the database itself. @throws
   * AppError store_unavailable: nothing was stored, unless the connection was lost during the commit itself
   */
  tx<T>(lock: string, work: (session: TxSession) => Promise<T>, bytes?: number): Promise<T>
  /** Closes all connections once running statements are finished; may be called again. */
  close(): Promise<void>
}

/** `bytes` of statements that read whole tables: SQLite runs them outside of the main thread. */
export const WHOLE_TABLE = Number.MAX_SAFE_INTEGER

/** Text as every engine can store it: unpaired surrogates and NUL, which Postgres refuses, become U+FFFD. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

/** Parameters as every engine can store them. */
export function storableParams(params: readonly SqlValue[]): SqlValue[] {
  return params.map((param) => (typeof param === 'string' ? storableText(param) : param))
}
