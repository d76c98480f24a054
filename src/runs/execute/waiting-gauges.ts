import type { Clock } from '../../base/clock.ts'
import type { Metrics } from '../../base/metrics.ts'
import type { Quota } from '../../base/quotas.ts'
import type { RunStore } from '../run-store.ts'

const EVERY_MS = 10_000

/** Updates the gauges of waiting runs every ten seconds; returns the function that stops it. */
export function observeWaiting(options: {
  store: Pick<RunStore, 'waiting'>
  deployments: () => readonly string[]
  clock: Clock
  metrics: Metrics
  everyMs?: number
}): () => Promise<void> {
  const { store, deployments, clock, metrics, everyMs = EVERY_MS } = options
  const waiting = metrics.gauge(
    'weir_runs_waiting',
    'Runs of the deployment that are due and wait for their thread or for a worker, counted up to 100,000; every server reports the same number.',
  )
  const oldest = metrics.gauge(
    'weir_runs_waiting_oldest_seconds',
    'Time since the oldest waiting run was due.',
  )
  const ask = async (): Promise<void> => {
    const { count, oldest_due_at } = await store.waiting(deployments())
    waiting.set(count)
    oldest.set(oldest_due_at === undefined ? 0 : Math.max(0, clock.now() - oldest_due_at) / 1000)
  }
  // While the store is down, the gauges keep their last values; `weir_store_up` reports that it is down.
  return poll(ask, everyMs)
}

/** Updates the gauge of the workspace's use every ten seconds; returns the function that stops it. */
export function observeUse(options: {
  read(): Promise<Readonly<Record<Quota, number>>>
  metrics: Metrics
  everyMs?: number
}): () => Promise<void> {
  const { read, metrics, everyMs = EVERY_MS } = options
  const used = metrics.gauge(
    'weir_workspace_used',
    "What the deployment's workspace has of what WORKSPACE_MAX_… bound.",
  )
  const ask = async (): Promise<void> => {
    for (const [quota, value] of Object.entries(await read())) used.set(value, { quota })
  }
  // While the store is down, the gauges keep their last values; `weir_store_up` reports that it is down.
  return poll(ask, everyMs)
}

/**
 * Calls `ask` at once and then every `every_ms`, but not while an earlier call is in progress. Rejections are ignored.
 * Returns a function that stops the calls.
 */
function poll(ask: () => Promise<void>, every_ms: number): () => Promise<void> {
  let asking: Promise<void> | undefined
  const askOnce = (): void => {
    asking ??= ask()
      .catch(() => undefined)
      .finally(() => (asking = undefined))
  }
  askOnce()
  const timer = setInterval(askOnce, every_ms)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await asking
  }
}
