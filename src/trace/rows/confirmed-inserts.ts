/** Encoded rows in any number of pieces. */
type Rows = readonly Uint8Array[]

/**
 * The inserts of one piece of work that are confirmed. When the work fails half-way and is repeated, it inserts only
 * what is not confirmed. The rows are kept until `clear`.
 */
export class ConfirmedInserts {
  readonly #inserts: { table: string; rows: Rows }[] = []

  /** Calls `insert`, unless an insert of the same rows into this table is confirmed. */
  async once(table: string, rows: Rows, insert: () => Promise<void>): Promise<void> {
    if (this.#inserts.some((known) => known.table === table && areEqual(known.rows, rows))) return
    await insert()
    this.#inserts.push({ table, rows })
  }

  clear(): void {
    this.#inserts.length = 0
  }
}

function areEqual(some: Rows, others: Rows): boolean {
  return some.length === others.length && some.every((piece, i) => Buffer.compare(piece, others[i]!) === 0)
}
