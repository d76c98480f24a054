/** A limit on the total bytes of running work. */
export interface ByteBudget {
  /**
   * Runs `work` when `bytes` are free, in order of arrival; work that needs more than the whole budget gets all of it.
   */
  hold<T>(bytes: number, work: () => Promise<T>): Promise<T>
}

export function createByteBudget(maxBytes: number): ByteBudget {
  let free = maxBytes
  const waiting: { bytes: number; start: () => void }[] = []
  const startNext = (): void => {
    while (waiting[0] && waiting[0].bytes <= free) {
      const { bytes, start } = waiting.shift()!
      free -= bytes
      start()
    }
  }
  return {
    async hold(wanted, work) {
      const bytes = Math.min(wanted, maxBytes)
      await new Promise<void>((start) => {
        waiting.push({ bytes, start })
        startNext()
      })
      try {
        return await work()
      } finally {
        free += bytes
        startNext()
      }
    },
  }
}
