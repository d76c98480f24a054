/** What a column or a parameter may hold. Times are epoch milliseconds, flags are 0 or 1. */
export type SqlValue = string | number | null

/** Statements on one connection. */
export interface SqlSession {
  /**
   * Runs one statement with `?` placeholders and returns its rows; empty for a statement that returns none.
   * `Row` names the columns as selected; it is the caller's word, not checked. Whole numbers of any width are
   * numbers; text is kept as `storableText` says.
   * @throws AppError conflict when a unique constraint refuses, store_unavailable when the database does not
   * answer, disk_full or disk_unwritable when its disk takes nothing; what any other refusal throws is the engine's
   */
  query<Row = unknown>(sql: string, params?: readonly SqlValue[]): Promise<Row[]>
}

/** A relational database. The signatures are asynchronous so that one over a network fits behind them. */
export interface Database extends SqlSession {
  readonly dialect: 'sqlite' | 'postgres'
  /**
   * Runs `work` in a transaction; commits when it resolves, rolls back when it rejects. From its first statement to
   * its end no other transaction of the same `lock` runs, in no process, and each statement sees all that earlier
   * ones have committed: so whoever decides by what it reads must name the lock that every writer of those rows names.
   * Transactions of other locks may run meanwhile, and statements outside of any transaction.
   * A statement that failed ends the transaction: `work` must not go on after it.
   * `work` may run again when the engine gave it up for another one's sake: it must have no effect but through its
   * session, and must not use the database itself.
   * @throws AppError store_unavailable: nothing was stored, unless the connection was lost in the very commit
   */
  tx<T>(lock: string, work: (session: SqlSession) => Promise<T>): Promise<T>
  /** Ends all connections when what is under way is done; may be called again. */
  close(): Promise<void>
}

/** Text as every engine keeps it: unpaired surrogates and NUL, which Postgres refuses, become U+FFFD. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

/** Parameters as every engine keeps them. */
export function storableParams(params: readonly SqlValue[]): SqlValue[] {
  return params.map((param) => (typeof param === 'string' ? storableText(param) : param))
}
