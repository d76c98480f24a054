import type { Clock } from '../../base/clock.ts'
import type { InOneTransaction, SetupStores } from '../../setup/setup.ts'
import type { Database, TxSession } from './driver/database.ts'
import { createFeedbackConfigStore } from './feedback/config-store.ts'
import { changeServiceKey } from './identity/api-key-store.ts'
import { organizationLock } from './identity/audit-log.ts'
import { createIdentityStore } from './identity/identity-store.ts'
import { createIngestLimitStore } from './identity/ingest-limit-store.ts'
import { createManagedRecords } from './identity/managed-record-store.ts'
import { createUsageLimitStore } from './identity/usage-limit-store.ts'
import { createPriceStore } from './prices/price-store.ts'
import { putRetention, retentionOf } from './projects/workspace-retention.ts'

/** A database whose transactions are parts of the one transaction of `session`. */
function partOf(database: Database, session: TxSession): Database {
  return {
    dialect: database.dialect,
    query: (sql, params) => session.query(sql, params),
    tx: (_lock, work) => work(session),
    close: async () => undefined,
  }
}

function storesOf(database: Database, clock: Clock): SetupStores {
  return {
    identity: createIdentityStore(database),
    managed: createManagedRecords(database),
    changeKey: (id, change) => changeServiceKey(database, id, change),
    retention: {
      of: (workspace_id) => retentionOf(database, workspace_id),
      put: (workspace_id, days) => putRetention(database, workspace_id, days),
    },
    usageLimits: createUsageLimitStore(database, clock),
    ingestLimits: createIngestLimitStore(database, clock),
    prices: createPriceStore(database, clock),
    feedback: createFeedbackConfigStore(database, clock),
  }
}

/** The stores of set-ups, in one transaction with the lock of the organization. */
export function createSetupTransaction(database: Database, clock: Clock): InOneTransaction {
  return (organization_id, work) =>
    database.tx(organizationLock(organization_id), (session) =>
      work(storesOf(partOf(database, session), clock)),
    )
}
