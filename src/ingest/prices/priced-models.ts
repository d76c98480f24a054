import type { LaneTasks } from '../lane-tasks.ts'
import type { WorkerPool } from '../../worker-threads/worker-pool.ts'

/** Names of the models in the default prices by their provider. */
export type PricedModels = () => Promise<Readonly<Record<string, readonly string[]>>>

/** Reads the names once, in the lane that has loaded the default prices. */
export function createPricedModels(lane: WorkerPool): PricedModels {
  let known: ReturnType<PricedModels> | undefined
  return () => {
    known ??= lane
      .run<LaneTasks['priced-models']['output']>({ name: 'priced-models', input: {} })
      .catch((error: unknown) => {
        known = undefined
        throw error
      })
    return known
  }
}
