import { systemClock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { Config } from '../config.ts'
import type { IdentityStore } from '../identity/identity-store.ts'
import type { UsageSources } from '../http/platform/app-deps.ts'
import { USAGE_COLUMNS } from '../ingest/store/stored-columns.ts'
import { createTraceTally } from '../usage/counting/trace-tally.ts'
import type { TraceTally, UsageLimitStore } from '../usage/limits.ts'
import { createUsageRecorder, type UsageRecorder } from '../usage/counting/recorder.ts'
import type { OpenedClickHouse } from '../storage/clickhouse/open.ts'
import { createUsageDetailsSource } from '../storage/clickhouse/usage/details.ts'
import { createUsageRollups } from '../storage/clickhouse/usage/rollups.ts'
import { createUsageTraceSource } from '../storage/clickhouse/usage/traces.ts'
import { createUsageRunSource } from '../storage/clickhouse/usage/runs.ts'
import { createUsageSource } from '../storage/clickhouse/usage/source.ts'
import { createUsageStore } from '../storage/clickhouse/usage/store.ts'
import type { switchUsage } from '../storage/sql/identity/usage-switches.ts'
import { createUsageRebuilds } from '../usage/counting/rebuilds.ts'
import { startUsageRoller } from '../usage/counting/roller.ts'

export interface CountingParts {
  config: Pick<Config, 'clickhouseUrl' | 'granularUsage'>
  logger: Logger
  /** Stop functions of the parts, in order of start. */
  stops: AsyncDisposableStack
  clickhouse: Pick<OpenedClickHouse, 'connection' | 'ready'>
  identityStore: Pick<IdentityStore, 'names'>
  usageLimits: UsageLimitStore
  usagePeriods: Awaited<ReturnType<typeof switchUsage>>
}

/** The parts that count traces, and the sources of reports, which are undefined if reporting is switched off. */
export interface UsageCounting {
  recorder: UsageRecorder
  sources: Omit<UsageSources, 'deployments'> | undefined
  limits: UsageLimitStore
  tally: TraceTally | undefined
}

/**
 * Counts traces and keeps the rollups up to date. If usage reporting is switched off, counts only traces that were
 * received before that.
 */
export function startCounting({
  config,
  logger,
  stops,
  clickhouse,
  identityStore,
  usageLimits,
  usagePeriods,
}: CountingParts): UsageCounting {
  const { connection, ready } = clickhouse
  const store = createUsageStore(connection, USAGE_COLUMNS)
  const recorder = createUsageRecorder({
    store,
    exclusive: config.clickhouseUrl === undefined,
    periods: usagePeriods,
  })
  const rollups = createUsageRollups(connection)
  const roller = startUsageRoller({ rollups, recorded: () => recorder.recorded, ready, logger })
  stops.defer(() => roller.stop())
  if (!config.granularUsage) return { recorder, sources: undefined, limits: usageLimits, tally: undefined }
  const counts = createUsageSource(connection)
  const rebuilds = createUsageRebuilds({ rollups, clock: systemClock, logger })
  stops.defer(() => rebuilds.stop())
  const workspaces = async (organization_id: string): Promise<string[]> => [
    ...(await identityStore.names(organization_id)).workspaces.keys(),
  ]
  return {
    recorder,
    sources: {
      counts,
      traces: createUsageTraceSource(connection),
      details: createUsageDetailsSource(connection),
      runs: createUsageRunSource(connection),
      rebuilds,
    },
    limits: usageLimits,
    tally: createTraceTally({ source: counts, store, workspaces }),
  }
}
