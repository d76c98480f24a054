import type { TxSession } from './database.ts'

/** A transaction that waits to be executed. */
export interface WaitingTransaction {
  work(session: TxSession): Promise<unknown>
  resolve(result: unknown): void
  reject(error: unknown): void
}

/** Transactions of a connection, which are executed one after the other in the order of the calls. */
export interface TransactionGroups {
  /** Adds a transaction to the group of this turn of the event loop. */
  tx<T>(work: (session: TxSession) => Promise<T>): Promise<T>
  /** Runs a transaction of another connection, after those that were requested before it. */
  elsewhere<T>(work: () => Promise<T>): Promise<T>
  /** Resolves when a statement outside of transactions may run: no group is executed, and the earlier ones have ended. */
  between(): Promise<void>
  /** Resolves when all transactions have ended. */
  ended(): Promise<void>
}

/** `execute` executes a group, and settles all its transactions; it never rejects. */
export function createTransactionGroups(
  execute: (group: readonly WaitingTransaction[]) => Promise<void>,
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
      await new Promise((turn) => setImmediate(turn))
      if (open === group) open = undefined
      running = execute(group)
      await running
      running = undefined
    })
    return group
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
    async between() {
      await lastGroup
      while (running !== undefined) await running
    },
    async ended() {
      while (last !== undefined) await last
    },
  }
}
