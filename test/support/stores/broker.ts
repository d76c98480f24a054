import { afterEach } from 'vitest'
import { createLogger } from '../../../src/base/log.ts'
import { systemClock } from '../../../src/base/clock.ts'
import { connectBroker, type BrokerConnection } from '../../../src/graph/broker/broker-connection.ts'
import { startStorageBroker, type StorageBroker } from '../../../src/graph/broker/storage-broker.ts'
import { readStoreTtl } from '../../../src/graph/project/store-ttl.ts'
import type { Tenant } from '../../../src/runs/model.ts'
import { createBrokeredRowStore } from '../../../src/storage/sql/broker/brokered-storage.ts'
import { createStorageOperations } from '../../../src/storage/sql/broker/operations.ts'
import {
  type Checkpointers,
  createCheckpointers,
  createCheckpointersOn,
} from '../../../src/storage/sql/checkpoints/checkpointer.ts'
import { createSqlRowStore } from '../../../src/storage/sql/checkpoints/row-store.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { createGraphStoreBatch } from '../../../src/storage/sql/items/graph-store-batch.ts'
import { createKvStore } from '../../../src/storage/sql/items/kv-store.ts'
import { describeOnSql, describeOnSqlite, type SqlEngine } from './sql/sql-databases.ts'

/** Creates the checkpointers of a host; they are closed after the test. */
type OpenCheckpointers = (database: Database, tenant: Tenant) => Promise<Checkpointers>

/**
 * Registers the tests of `body` for hosts that open SQLite or Postgres, and for hosts that reach SQLite through the
 * storage broker (P-25).
 */
export function describeCheckpoints(
  title: string,
  body: (engine: SqlEngine, open: OpenCheckpointers) => void,
): void {
  describeOnSql(title, (engine) => body(engine, async (database) => createCheckpointers(database)))
  describeOnSqlite(`P-25: through the broker, ${title}`, (engine) => {
    const access = openAccess()
    afterEach(() => access.close())
    body(engine, access.open)
  })
}

/** Checkpointers that use the broker; `close` ends all of them. */
export function openAccess(): { open: OpenCheckpointers; close(): Promise<void> } {
  const brokers: StorageBroker[] = []
  const connections: BrokerConnection[] = []
  return {
    async open(database, tenant) {
      const broker = await startStorageBroker(createLogger({ level: 'silent' }))
      brokers.push(broker)
      const connection = await connectBroker(
        broker.grant(operationsOf(database, tenant)).place,
        () => undefined,
      )
      connections.push(connection)
      return createCheckpointersOn(createBrokeredRowStore(connection.request))
    },
    async close() {
      for (const connection of connections.splice(0)) connection.close()
      await Promise.all(brokers.splice(0).map((broker) => broker.close()))
    },
  }
}

/** Makes the operations on the database that a host of the tenant may use. */
export function operationsOf(database: Database, tenant: Tenant) {
  const batch = createGraphStoreBatch(
    createKvStore(database, systemClock, { index: undefined, ...readStoreTtl(null) }),
    tenant,
    1 << 20,
  )
  return createStorageOperations(createSqlRowStore(database), batch, tenant)
}
