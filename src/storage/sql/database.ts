/** What a column or a parameter may hold. Times are epoch milliseconds, flags are 0 or 1. */
export type SqlValue = string | number | null

/** Statements on one connection. */
export interface SqlSession {
  /**
   * Runs one statement with `?` placeholders and returns its rows; empty for a statement that returns none.
   * `Row` names the columns as selected; it is the caller's word, not checked.
   */
  query<Row = unknown>(sql: string, params?: readonly SqlValue[]): Promise<Row[]>
}

/** A relational database. The signatures are asynchronous so that one over a network fits behind them. */
export interface Database extends SqlSession {
  readonly dialect: 'sqlite' | 'postgres'
  /**
   * Runs `work` in a transaction that holds the write lock from its start; commits when it resolves, rolls back
   * when it rejects. Statements of the transaction go through its session: `query` of the database waits.
   */
  tx<T>(work: (session: SqlSession) => Promise<T>): Promise<T>
  close(): Promise<void>
}
