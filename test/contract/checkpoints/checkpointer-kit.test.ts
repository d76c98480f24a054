import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import { deltaChannelHistoryTests, validate } from '@langchain/langgraph-checkpoint-validation'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Tenant } from '../../../src/runs/model.ts'
import { createCheckpointers } from '../../../src/storage/sql/checkpoints/checkpointer.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { migrate } from '../../../src/storage/sql/driver/migrate.ts'
import { openPostgres } from '../../../src/storage/sql/driver/postgres.ts'
import { openSqlite } from '../../../src/storage/sql/driver/sqlite.ts'
import { postgresDatabases } from '../../support/stores/sql/postgres-databases.ts'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { inLong } from '../../support/length.ts'

// LangChain's kit reads the test functions from the global object.
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it })

const MIGRATIONS = new URL('../../../src/storage/sql/run-migrations/', import.meta.url)
const TENANT: Tenant = { workspace_id: 'w', deployment_id: 'd' }

/** The kit writes checkpoints of threads that it has not created. This creates a thread when needed. */
function withThreads(saver: BaseCheckpointSaver, database: Database): BaseCheckpointSaver {
  const put = saver.put.bind(saver)
  saver.put = async (config, ...rest) => {
    const thread_id: unknown = config.configurable?.['thread_id']
    if (typeof thread_id === 'string') {
      await database.query(
        `INSERT INTO threads (thread_id, deployment_id, workspace_id, created_at, updated_at, state_updated_at, status,
          rest_status, has_next, last_seq, last_run_at, metadata, config, interrupts)
          VALUES (?, ?, ?, 0, 0, 0, 'idle', 'idle', 0, 0, 0, '{}', '{}', '{}') ON CONFLICT DO NOTHING`,
        [thread_id, TENANT.deployment_id, TENANT.workspace_id],
      )
    }
    return await put(config, ...rest)
  }
  return saver
}

function runKit(name: string, open: () => Promise<Database>): void {
  const databases = new Map<BaseCheckpointSaver, Database>()
  const initializer = {
    checkpointerName: `Weir on ${name}`,
    async createCheckpointer() {
      const database = await open()
      await migrate(database, MIGRATIONS)
      const saver = withThreads(createCheckpointers(database).open(TENANT, null), database)
      databases.set(saver, database)
      return saver
    },
    async destroyCheckpointer(saver: BaseCheckpointSaver) {
      await databases.get(saver)?.close()
    },
  }
  validate(initializer)
  deltaChannelHistoryTests(initializer)
}

describe("the checkpointer in LangChain's validation kit", () => {
  runKit('SQLite', async () => openSqlite(':memory:'))

  const reason = withoutPostgres()
  inLong(() => {
    describe.skipIf(reason !== '')(`on Postgres${reason}`, () => {
      const databases = postgresDatabases()
      runKit('Postgres', async () => {
        const url = await databases.take()
        const database = openPostgres(url)
        const close = async (): Promise<void> => {
          await database.close()
          databases.giveBack(url)
        }
        return { ...database, close }
      })
    })
  })
})
