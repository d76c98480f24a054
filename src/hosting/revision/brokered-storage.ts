import type { GrantStorage } from '../../graph/pool/launch.ts'
import type { GraphHosts } from '../../graph/pool/pool.ts'
import type { DeploymentFile } from '../../graph/project/deployment-file.ts'
import type { Tenant } from '../../runs/model.ts'
import { createStorageOperations } from '../../storage/sql/broker/operations.ts'
import { createGraphStoreBatch } from '../../storage/sql/items/graph-store-batch.ts'
import type { DeploymentParts, RunState } from '../run-state/run-state.ts'
import { itemsOf } from './serving.ts'
import { parseExact } from '../../schema/exact-json.ts'

/** Maximum bytes of the items that one search of a graph finds. */
const MAX_FOUND_BYTES = 64 << 20

/**
 * Gives each host access to the rows of its deployment through the broker (P-25). `hosts` compute the embeddings of the
 * long-term memory.
 */
export function brokeredStorage(
  { state, config }: { state: RunState } & Pick<DeploymentParts, 'config'>,
  { tenant, file, hosts }: { tenant: Tenant; file: DeploymentFile; hosts: Promise<GraphHosts> },
): GrantStorage {
  const embed = async (texts: readonly string[]): Promise<number[][]> => (await hosts).embed(texts)
  const items = itemsOf({ config }, state, { file, host: { embed } })
  const operations = createStorageOperations(
    state.checkpointRows,
    createGraphStoreBatch(items, tenant, MAX_FOUND_BYTES, parseExact),
    tenant,
  )
  return () => {
    const { place, revoke } = state.broker.grant(operations)
    return { storage: { broker: { ...place } }, revoke }
  }
}
