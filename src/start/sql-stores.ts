import { join, resolve } from 'node:path'
import { systemClock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { Config } from '../config.ts'
import { bootstrapIdentity } from '../identity/bootstrap.ts'
import { openInstallation, sqlStore } from '../storage/installation.ts'
import { createBrowserSessionStore } from '../storage/sql/identity/browser-session-store.ts'
import { createOauthStore } from '../storage/sql/identity/oauth-store.ts'
import { createManagedRecords } from '../storage/sql/identity/managed-record-store.ts'
import { createInviteStore } from '../storage/sql/identity/invite-store.ts'
import { createScimStore } from '../storage/sql/identity/scim/scim-store.ts'
import { createScimTokenStore } from '../storage/sql/identity/scim/token-store.ts'
import { createSignInStore } from '../storage/sql/identity/sign-in-store.ts'
import { createIdentityStore } from '../storage/sql/identity/identity-store.ts'
import { createIngestLimitStore } from '../storage/sql/identity/ingest-limit-store.ts'
import { createUsageLimitStore } from '../storage/sql/identity/usage-limit-store.ts'
import { switchUsage } from '../storage/sql/identity/usage-switches.ts'
import { openSql } from '../storage/sql/driver/open.ts'
import { createPostgresLivePeers } from '../storage/sql/driver/postgres/live-peers.ts'
import type { AsLeader } from '../storage/sql/driver/postgres/migration-leader.ts'
import { createPriceStore } from '../storage/sql/prices/price-store.ts'
import { connectionShares } from '../storage/sql/driver/postgres/connection-budget.ts'
import { withAuditLines } from './identity/audit-lines.ts'
import { createSharing } from './stored-traces.ts'
import { createCommentStore } from '../storage/sql/comments/comment-store.ts'
import { createDeletionStore } from '../storage/sql/deletion/deletion-store.ts'
import { createProjectStore } from '../storage/sql/projects/store.ts'
import { createProjectViewStore } from '../storage/sql/projects/view-store.ts'
import { createRepriceJobStore } from '../storage/sql/prices/reprice-job-store.ts'

export interface SqlStoreParts {
  config: Config
  logger: Logger
  /** Stop functions of the parts, in order of start. */
  stops: AsyncDisposableStack
  acceptEmptyStore: boolean
  /** Undefined if no other server shares the stores. */
  asLeader: AsLeader | undefined
}

export type SqlStores = Awaited<ReturnType<typeof openSqlStores>>

/** Opens the SQL store: organization, workspaces, keys, projects, own prices. */
export async function openSqlStores({ config, logger, stops, acceptEmptyStore, asLeader }: SqlStoreParts) {
  const dataDir = resolve(config.dataDir)
  const file = join(dataDir, 'weir.db')
  // Acknowledged traces are useless without their project, so projects must survive the same failures.
  const connections = connectionShares(config.databaseConnections).identity
  const sqlPlace = { url: config.databaseUrl, file, synchronous: 'full', connections } as const
  const opened = await openSql(sqlPlace, asLeader)
  stops.defer(() => opened.close())
  const database = config.auditLog === undefined ? opened : withAuditLines(opened, config.auditLog, logger)
  const place = config.databaseUrl === undefined ? file : 'The database of DATABASE_URL'
  const installation = await openInstallation({ database, place, dataDir, acceptEmpty: acceptEmptyStore })
  const identityStore = createIdentityStore(database)
  const options = { dataDir, bootstrapKey: config.bootstrapApiKey, clock: systemClock }
  const identity = await bootstrapIdentity(identityStore, options)
  if (identity.ignoredBootstrapKey) {
    logger.warn('BOOTSTRAP_API_KEY is not a key of this data directory and is ignored')
  }
  if (identity.replaced) {
    logger.warn({ file: join(dataDir, 'api-key') }, 'no admin key was left; created a new one')
  }
  return {
    database,
    identity,
    identityStore,
    /** Undefined if no other server shares the store. */
    livePeers:
      config.databaseUrl === undefined
        ? undefined
        : createPostgresLivePeers({ url: config.databaseUrl, database, logger }),
    sessions: createBrowserSessionStore(database),
    oauth: createOauthStore(database),
    signIns: createSignInStore(database),
    invites: createInviteStore(database),
    managed: createManagedRecords(database),
    scim: { tokens: createScimTokenStore(database), store: createScimStore(database) },
    installation,
    check: await installation.claim(sqlStore('sql', place, database)),
    sharing: createSharing(database),
    comments: createCommentStore(database, systemClock),
    deletions: createDeletionStore(database, systemClock),
    projects: createProjectStore(database, systemClock, {
      retention_days: config.defaultRetentionDays,
    }),
    projectViews: createProjectViewStore(database, systemClock),
    prices: createPriceStore(database, systemClock),
    repriceJobs: createRepriceJobStore(database),
    usageLimits: createUsageLimitStore(database, systemClock),
    ingestLimits: createIngestLimitStore(database, systemClock),
    usagePeriods: await switchUsage(database, config.granularUsage, systemClock.now()),
  }
}
