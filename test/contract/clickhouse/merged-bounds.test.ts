import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { MAX_MERGED_BYTES } from '../../../src/schema/merge-bounded.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { createAssistantStore } from '../../../src/storage/sql/runs/assistant-store.ts'
import { createRunStore } from '../../../src/storage/sql/runs/run-store.ts'
import { admissionOf, TENANT } from '../../support/runs/run-store.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'

const THIRD = 'x'.repeat(MAX_MERGED_BYTES / 3)
const TOO_LARGE = expect.objectContaining({ code: 'metadata_too_large', status: 413 })

describeOnSql('data that many requests merge', (engine) => {
  let database: Database
  beforeEach(async () => {
    database = await engine.openRuns()
  })

  /**
   * Adds three parts, each as long as a third of the limit. The third part is refused until the second one is emptied.
   */
  async function expectBound(add: (part: Record<string, string>) => Promise<unknown>): Promise<void> {
    await add({ a: THIRD })
    await add({ b: THIRD })
    await expect(add({ c: THIRD })).rejects.toEqual(TOO_LARGE)
    await add({ b: '' })
    await add({ c: THIRD })
  }

  it('is bounded: metadata and config of threads', async () => {
    const runs = createRunStore(database, systemClock)
    const thread_id = randomUUID()
    await runs.createThread(TENANT, { thread_id, metadata: {}, config: {}, ttl: null })
    await expectBound((metadata) => runs.updateThread(TENANT, thread_id, { metadata }))
    await expectBound((configurable) =>
      runs.admit(TENANT, admissionOf(thread_id, { thread_config: { configurable } })),
    )
  })

  it('is bounded: metadata of assistants', async () => {
    const assistants = createAssistantStore(database, systemClock)
    const assistant_id = randomUUID()
    const about = { graph_id: 'g', name: 'n', description: null, config: {}, context: {}, metadata: {} }
    await assistants.create(TENANT, { ...about, assistant_id })
    await expectBound((metadata) => assistants.update(TENANT, assistant_id, { metadata }))
  })
})
