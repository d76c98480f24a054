import { resolve } from 'node:path'
import type { Logger } from '../base/log.ts'
import type { Config } from '../config.ts'
import { createInsertTurns, type InsertTurns } from '../storage/clickhouse/cluster/insert-turns.ts'
import { takesTurns } from '../storage/clickhouse/cluster/layout.ts'
import { type OpenedClickHouse, openClickHouse } from '../storage/clickhouse/open.ts'
import type { AsLeader } from '../storage/sql/driver/postgres/migration-leader.ts'
import { openTableLocks } from '../storage/sql/driver/postgres/table-locks.ts'

interface ClickHouseParts {
  config: Pick<Config, 'databaseUrl' | 'clickhouseUrl' | 'clickhouseLayout' | 'coldStorage' | 'dataDir'>
  logger: Logger
  stops: AsyncDisposableStack
  asLeader: AsLeader | undefined
}

/** Opens ClickHouse while other parts start; a ClickHouse that could not be opened needs no stop. */
export function startClickHouse(base: ClickHouseParts): Promise<OpenedClickHouse> {
  const { config, logger, stops, asLeader } = base
  const opening = openClickHouse({
    url: config.clickhouseUrl,
    layout: config.clickhouseLayout,
    cold: config.coldStorage,
    turns: openInsertTurns(base),
    asLeader,
    dataDir: resolve(config.dataDir),
    logger,
  })
  stops.defer(() =>
    opening.then(
      (clickhouse) => clickhouse.stop(),
      () => undefined,
    ),
  )
  return opening
}

/** Turns of all servers that share a Postgres database; undefined if ClickHouse takes simultaneous inserts. */
function openInsertTurns({ config, logger, stops }: ClickHouseParts): InsertTurns | undefined {
  const { databaseUrl, clickhouseLayout } = config
  if (!takesTurns(clickhouseLayout)) return undefined
  if (databaseUrl === undefined) return createInsertTurns()
  const locks = openTableLocks({ url: databaseUrl, logger })
  stops.defer(() => locks.close())
  return createInsertTurns(locks.lock)
}
