/** An action that is done less often than it is requested. */
export interface Later {
  /** Does it once after the pause; further calls before its end have no effect. */
  ask(): void
  /** Does it at once. */
  now(): void
  /** Does it at once if it was asked for. */
  flush(): void
}

export function createLater(ms: number, act: () => void): Later {
  let timer: ReturnType<typeof setTimeout> | undefined
  const now = (): void => {
    clearTimeout(timer)
    timer = undefined
    act()
  }
  return {
    ask: () => {
      timer ??= setTimeout(now, ms)
    },
    now,
    flush: () => timer !== undefined && now(),
  }
}
