import type { TxSession } from './database.ts'

/** A transaction that waits to be executed. */
export interface WaitingTransaction {
  work(session: TxSession): Promise<unknown>
  resolve(result: unknown): void
  reject(error: unknown): void
}

/** Transactions of a connection, which are executed one after the other in the order of the calls. */
export interface TransactionGroups {
  /** Adds a transaction to the next group. */
  tx<T>(work: (session: TxSession) => Promise<T>): Promise<T>
  /** Runs a transaction of another connection, after those that were requested before it. */
  elsewhere<T>(work: () => Promise<T>): Promise<T>
  /**
   * Undefined, or a promise while a statement outside of transactions must wait; it resolves when the groups before the
   * call have ended and none is executed.
   */
  between(): Promise<void> | undefined
  /** Resolves when all transactions have ended. */
  ended(): Promise<void>
}

/**
 * `execute` executes a group, and settles all its transactions; it never rejects. If `gathers`, a group starts at the end
 * of the turn of the event loop, and has all transactions of the turn; otherwise it starts at once.
 */
export function createTransactionGroups(
  execute: (group: readonly WaitingTransaction[]) => Promise<void>,
  gathers: boolean,
): TransactionGroups {
  /** The end of what was requested last; `lastGroup` is the same for groups. */
  let last: Promise<void> | undefined
  let lastGroup: Promise<void> | undefined
  let running: Promise<void> | undefined
  /** The group that further transactions join. */
  let open: WaitingTransaction[] | undefined

  const follow = (run: () => Promise<void>): Promise<void> => {
    const mine = (last ?? Promise.resolve()).then(run).finally(() => {
      if (last === mine) last = undefined
      if (lastGroup === mine) lastGroup = undefined
    })
    last = mine
    return mine
  }

  const openGroup = (): WaitingTransaction[] => {
    const group: WaitingTransaction[] = []
    lastGroup = follow(async () => {
      if (gathers) await new Promise((turn) => setImmediate(turn))
      if (open === group) open = undefined
      running = execute(group)
      await running
      running = undefined
    })
    return group
  }

  const groupsEnded = async (asked: Promise<void>): Promise<void> => {
    await asked
    while (running !== undefined) await running
  }

  return {
    tx<T>(work: (session: TxSession) => Promise<T>): Promise<T> {
      const group = (open ??= openGroup())
      return new Promise<T>((resolve, reject) => {
        group.push({ work, resolve, reject })
      })
    },
    elsewhere<T>(work: () => Promise<T>): Promise<T> {
      open = undefined
      return new Promise<T>((resolve, reject) => {
        void follow(() => work().then(resolve, reject))
      })
    },
    between: () => (lastGroup === undefined ? undefined : groupsEnded(lastGroup)),
    async ended() {
      while (last !== undefined) await last
    },
  }
}
