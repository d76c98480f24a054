import { resolve } from 'node:path'
import { systemClock } from '../../base/clock.ts'
import type { DeploymentFile } from '../../graph/project/deployment-file.ts'
import { oneAtATime, type StoreChecks } from '../../base/background/store-checks.ts'
import { readStoreTtl } from '../../graph/project/store-ttl.ts'
import type { KvStore } from '../../runs/items/kv-store.ts'
import { itemSweep } from '../../runs/items/sweeper.ts'
import { observeUse } from '../../runs/execute/waiting-gauges.ts'
import { threadSweep } from '../../runs/threads/sweeper.ts'
import { endLeftovers } from '../../storage/child-processes.ts'
import { withLongTimeout } from '../../storage/sql/driver/open-run-database.ts'
import { createKvStore } from '../../storage/sql/items/kv-store.ts'
import { readUse, repairUse } from '../../storage/sql/workspace-use.ts'
import { type ListsOf, startLists } from '../threads/lists.ts'
import { type DeploymentParts, openRunState, type RunState, startWorking, type Working } from './run-state.ts'

/** Stores and services that all deployments of a server share. */
export interface SharedRuns {
  state: RunState
  working: Working
  listsOf: ListsOf
  checks: StoreChecks
}

const SWEEP_MS = 60_000

/** Opens the stores of runs, and ends the processes that an earlier process of the server has left. */
export async function openRunStores(parts: DeploymentParts): Promise<RunState> {
  const state = await openRunState(parts)
  await repairUseCounts(parts, state)
  await endLeftovers(resolve(parts.config.dataDir), parts.logger)
  return state
}

/** Starts the services that deployments share; `file` has the times of sweeps. */
export async function startSharedRuns(
  parts: DeploymentParts,
  state: RunState,
  file: Pick<DeploymentFile, 'store_ttl' | 'checkpointer_ttl'> = { store_ttl: null, checkpointer_ttl: null },
): Promise<SharedRuns> {
  const { quotas } = parts.config
  const listsOf = startLists({ ...parts, place: state.place })
  const working = await startWorking(parts, state)
  const items = createKvStore(state.database, systemClock, { ...readStoreTtl(file.store_ttl), quotas })
  startSweeping(parts, state, { items, file })
  return { state, working, listsOf, checks: oneAtATime(state.checks) }
}

/** Corrects the counts of the workspace's use, and registers their gauge. */
async function repairUseCounts(
  { workspace_id, metrics, logger, stops }: DeploymentParts,
  { place, database }: RunState,
): Promise<void> {
  const mended = await withLongTimeout(place, database, (patient) => repairUse(patient, { workspace_id }))
  if (mended.length > 0) logger.warn({ workspace_id, counts: mended }, 'wrong counts were computed again')
  stops.defer(observeUse({ read: () => readUse(database, { workspace_id }), metrics }))
}

/** Starts the deletion of expired threads and items, and of webhooks without runs, of all deployments. */
function startSweeping(
  { sweeps, stops }: DeploymentParts,
  { store, events, webhookStore }: RunState,
  { items, file }: { items: KvStore; file: Pick<DeploymentFile, 'checkpointer_ttl'> },
): void {
  const minutes = file.checkpointer_ttl?.['sweep_interval_minutes']
  const everyMs = typeof minutes === 'number' && minutes > 0 ? minutes * 60_000 : SWEEP_MS
  const all = [
    threadSweep({ store, events, everyMs }),
    { name: 'webhooks', everyMs, work: () => webhookStore.sweep() },
    { name: 'stateless_ends', everyMs, work: () => store.forgetStatelessEnds() },
    itemSweep(items),
  ]
  for (const sweep of all) {
    const started = sweeps.start(sweep)
    stops.defer(() => started.stop())
  }
}
