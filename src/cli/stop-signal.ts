import type { EventEmitter } from 'node:events'

/** Signals that come so soon after the first are the same one: systemd sends it to the launcher too, which forwards it. */
const SAME_MS = 1_000

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
