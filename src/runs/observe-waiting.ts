import type { Clock } from '../base/clock.ts'
import type { Metrics } from '../base/metrics.ts'
import type { RunStore } from './run-store.ts'

const EVERY_MS = 10_000

/** Keeps the gauges of runs that wait, as they were at most ten seconds ago; returns what ends it. */
export function observeWaiting(options: {
  store: Pick<RunStore, 'waiting'>
  deployments: readonly string[]
  clock: Clock
  metrics: Metrics
  everyMs?: number
}): () => Promise<void> {
  const { store, deployments, clock, metrics, everyMs = EVERY_MS } = options
  const waiting = metrics.gauge(
    'weir_runs_waiting',
    'Runs of the deployment that are due and wait for their thread or for a server, counted up to 100,000; the same from every server.',
  )
  const oldest = metrics.gauge(
    'weir_runs_waiting_oldest_seconds',
    'How long the oldest of the waiting runs has been due.',
  )
  const ask = async (): Promise<void> => {
    const { count, oldest_due_at } = await store.waiting(deployments)
    waiting.set(count)
    oldest.set(oldest_due_at === undefined ? 0 : Math.max(0, clock.now() - oldest_due_at) / 1000)
  }
  // A store that is down shows in `weir_store_up`; the last values stay.
  let asking: Promise<void> | undefined
  const askOnce = (): void => {
    asking ??= ask()
      .catch(() => undefined)
      .finally(() => (asking = undefined))
  }
  askOnce()
  const timer = setInterval(askOnce, everyMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await asking
  }
}
