/** An action that is done less often than it is requested. */
export interface Later {
  /** Executes the action once after the pause; further calls before its end have no effect. */
  ask(): void
  /** As `ask`, but further calls make the pause begin again, until it is ten times as long. */
  askAgain(): void
  now(): void
  /** Executes the action at once if it was requested and is not done yet. */
  flush(): void
}

const LONGEST_PAUSES = 10

export function createLater(ms: number, act: () => void): Later {
  let timer: ReturnType<typeof setTimeout> | undefined
  /** Time of the first request since the last execution, epoch milliseconds. */
  let since: number | undefined
  const now = (): void => {
    clearTimeout(timer)
    timer = undefined
    since = undefined
    act()
  }
  return {
    ask: () => {
      timer ??= setTimeout(now, ms)
    },
    askAgain() {
      since ??= Date.now()
      clearTimeout(timer)
      timer = setTimeout(now, Math.max(0, Math.min(ms, since + LONGEST_PAUSES * ms - Date.now())))
    },
    now,
    flush: () => timer !== undefined && now(),
  }
}
