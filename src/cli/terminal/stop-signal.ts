import type { EventEmitter } from 'node:events'

/** Time within which signals count as one: systemd also sends the signal to the launcher, which forwards it. */
const SAME_MS = 1_000

/** Maximum time for which open connections to stores keep the process running after the server has stopped. */
const LINGER_MS = 500

/** Ends the process soon, even if something keeps it running. */
export function endSoon(target: { exit(code: number): void } = process): void {
  setTimeout(() => target.exit(0), LINGER_MS).unref()
}

/** Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. */
export function stopSignal(
  target: EventEmitter & { exit(code: number): void } = process,
  now: () => number = () => performance.now(),
): Promise<void> {
  return new Promise((resolve) => {
    let first: number | undefined
    const stop = (): void => {
      if (first === undefined) {
        first = now()
        resolve()
      } else if (now() - first >= SAME_MS) target.exit(1)
    }
    target.on('SIGINT', stop)
    target.on('SIGTERM', stop)
  })
}
