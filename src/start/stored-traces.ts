import { systemClock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { Sweeps } from '../base/background/sweeps.ts'
import type { Feedback, Sharing } from '../http/platform/app-deps.ts'
import { RecentMap } from '../base/recent-map.ts'
import { createAttemptLimit } from '../http/platform/attempt-limit.ts'
import { FAILURES } from '../http/platform/sign-in.ts'
import { type Deleter, type DeleterDeps, startDeleter } from '../ingest/deletion/deleter.ts'
import { createFeedbackRecords, type FeedbackRecordsDeps } from '../ingest/feedback/records.ts'
import type { Ingester } from '../ingest/ingester.ts'
import { type Repricer, type RepricerDeps, startRepricer } from '../ingest/prices/repricer.ts'
import { createKeepDays } from '../ingest/store/keep-days.ts'
import type { ReadStore } from '../ingest/store/stats-store.ts'
import { STORED_COLUMNS } from '../ingest/store/stored-columns.ts'
import { createTraceDeletion } from '../storage/clickhouse/deleting/deletion.ts'
import { startKeepingHours } from '../storage/clickhouse/hours/keep-hours.ts'
import { startIndexingWords } from '../storage/clickhouse/search/index-words.ts'
import type { OpenedClickHouse } from '../storage/clickhouse/open.ts'
import { startRepair } from '../storage/clickhouse/repair-double-rows.ts'
import { createTraceStore } from '../storage/clickhouse/trace-store.ts'
import type { Database } from '../storage/sql/driver/database.ts'
import { createFeedbackConfigStore } from '../storage/sql/feedback/config-store.ts'
import { createFeedbackTokenStore } from '../storage/sql/feedback/token-store.ts'
import { serverSecret } from '../storage/sql/shares/server-secret.ts'
import { createShareStore } from '../storage/sql/shares/share-store.ts'

/** Maximum number of reads of one share in a minute. */
const SHARE_READS = { max: 300, window_ms: 60_000 }
/** Number of unknown share tokens that are remembered, so that each counts once. */
const MAX_TRIED = 10_000
/** Maximum number of calls with one token in a minute. */
const TOKEN_CALLS = { max: 60, window_ms: 60_000 }

/** The dependencies of the feedback routes. */
export function createFeedback(
  database: Database,
  stored: Omit<FeedbackRecordsDeps, 'clock'>,
  clock = systemClock,
): Feedback {
  return {
    records: createFeedbackRecords({ ...stored, clock }),
    configs: createFeedbackConfigStore(database, clock),
    tokens: createFeedbackTokenStore(database),
    tokenLimit: createAttemptLimit({ ...TOKEN_CALLS, clock }),
  }
}

interface Background {
  logger: Logger
  sweeps: Sweeps
  stops: AsyncDisposableStack
}

/** Starts the repairs, the indexing and the figures of stored rows in the background. */
export function startUpkeep(
  { logger, stops }: Background,
  { connection, ready }: Pick<OpenedClickHouse, 'connection' | 'ready'>,
): void {
  stops.defer(startRepair(connection, ready, logger))
  stops.defer(startIndexingWords(connection, ready, logger))
  stops.defer(startKeepingHours(connection, ready, logger))
}

export function createSharing(database: Database, clock = systemClock): Sharing {
  return {
    shares: createShareStore(database, clock),
    limit: createAttemptLimit({ ...SHARE_READS, clock }),
    guesses: createAttemptLimit({ ...FAILURES, clock }),
    tried: new RecentMap(MAX_TRIED),
    attachmentKey: serverSecret(database, 'attachment-links'),
  }
}

export function openTraceStore(
  { logger }: Pick<Background, 'logger'>,
  connection: OpenedClickHouse['connection'],
  deletions: DeleterDeps['deletions'],
): ReadStore {
  const keepDays = createKeepDays({ deletions, clock: systemClock, logger })
  return createTraceStore(connection, STORED_COLUMNS, keepDays)
}

interface DeletingParts extends Pick<DeleterDeps, 'deletions' | 'comments' | 'ingester' | 'blobs'> {
  sharing: Sharing
  clickhouse: Pick<OpenedClickHouse, 'connection' | 'ready'>
}

/** Starts the deletions, and the sweeps of expired TraceRuns, in the background. */
export function startDeleting(
  { logger, sweeps, stops }: Background,
  { clickhouse: { connection, ready }, sharing: { shares }, ...parts }: DeletingParts,
): Deleter {
  const traces = createTraceDeletion(connection, STORED_COLUMNS.runs)
  const deleter = startDeleter({
    ...parts,
    traces,
    ready,
    shares,
    clock: systemClock,
    logger,
    sweeps,
  })
  stops.defer(() => deleter.stop())
  return deleter
}

/** Starts the recalculation of stored costs in the background. */
export function startRepricing(
  { logger, stops }: Background,
  ingester: Pick<Ingester, 'health'>,
  parts: Omit<RepricerDeps, 'isStored' | 'clock' | 'logger'>,
): Repricer {
  const repricer = startRepricer({
    ...parts,
    isStored: (time) => isStored(ingester, time),
    clock: systemClock,
    logger,
  })
  stops.defer(() => repricer.stop())
  return repricer
}

/** Whether everything received before `time` is stored. */
function isStored(ingester: Pick<Ingester, 'health'>, time: number): boolean {
  const { oldest_waiting_at } = ingester.health()
  return oldest_waiting_at === null || Date.parse(oldest_waiting_at) > time
}
