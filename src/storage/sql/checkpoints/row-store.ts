import type { Tenant } from '../../../runs/model.ts'
import type { Database } from '../driver/database.ts'
import { type CheckpointMark, readMarks } from './marks.ts'
import { type CheckpointQueue, createCheckpointQueue } from './queue.ts'
import {
  type BlobKey,
  type CheckpointNamespace,
  type CheckpointRow,
  type CheckpointScan,
  type FoundBlob,
  type FoundWrite,
  readBlobs,
  readCheckpoints,
  readKnownChannels,
  readWrites,
} from './rows.ts'
import { deleteCheckpoints } from './threads.ts'

/** Values of channels, and the valid writes of each checkpoint. */
export interface CheckpointContents {
  values: FoundBlob[]
  writes: Map<string, FoundWrite[]>
}

export interface FoundCheckpoint extends CheckpointContents {
  row: CheckpointRow
}

/** Selects the checkpoints of a thread whose marks are read. */
export type MarkScan = Parameters<typeof readMarks>[2]

/**
 * Access to the rows of checkpoints, in the run database or through the storage broker of a server. A read sees all
 * earlier writes of this process to the thread.
 */
export interface CheckpointRowStore {
  queue: CheckpointQueue
  /** The newest checkpoint that `scan` allows. */
  newest(tenant: Tenant, scan: CheckpointScan): Promise<FoundCheckpoint | undefined>
  /** Newest first. */
  list(tenant: Tenant, scan: CheckpointScan): Promise<CheckpointRow[]>
  /** Values and writes of checkpoints of a namespace; missing ones are left out. */
  contents(
    tenant: Tenant,
    place: CheckpointNamespace,
    keys: readonly BlobKey[],
    checkpoint_ids: readonly string[],
  ): Promise<CheckpointContents>
  /** As `readKnownChannels`. */
  knownChannels(
    tenant: Tenant,
    place: CheckpointNamespace,
    keys: readonly { channel: string; version: string }[],
  ): Promise<Set<string>>
  /** As `readMarks`. */
  marks(tenant: Tenant, scan: MarkScan): Promise<CheckpointMark[]>
  deleteThread(tenant: Tenant, thread_id: string): Promise<void>
}

/**
 * Maximum number of tries to read the newest checkpoint. If values are missing, the checkpoint was deleted during the
 * read; then another one is the newest.
 */
const MAX_TRIES = 5

/** The rows of a run database that has been migrated. */
export function createSqlRowStore(database: Database): CheckpointRowStore {
  const queue = createCheckpointQueue(database)
  const contents: CheckpointRowStore['contents'] = async (tenant, place, keys, checkpoint_ids) => {
    const [writes, values] = await Promise.all([
      readWrites(database, tenant, place, checkpoint_ids),
      readBlobs(database, tenant, place, keys),
    ])
    return { values, writes }
  }
  return {
    queue,
    contents,
    async newest(tenant, scan) {
      if (scan.thread_id !== undefined) await queue.settled(scan.thread_id)
      for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
        const [row] = await readCheckpoints(database, tenant, { ...scan, limit: 1 })
        if (row === undefined) return undefined
        const keys = keysOf(row)
        const found = await contents(tenant, row, keys, [row.checkpoint_id])
        if (found.values.length === keys.length) return { row, ...found }
      }
      return undefined
    },
    async list(tenant, scan) {
      if (scan.thread_id !== undefined) await queue.settled(scan.thread_id)
      return readCheckpoints(database, tenant, scan)
    },
    async knownChannels(tenant, place, keys) {
      await queue.settled(place.thread_id)
      return readKnownChannels(database, tenant, place, keys)
    },
    async marks(tenant, scan) {
      await queue.settled(scan.thread_id)
      return readMarks(database, tenant, scan)
    },
    async deleteThread(tenant, thread_id) {
      await queue.settled(thread_id)
      await database.tx(`checkpoints:${thread_id}`, (session) =>
        deleteCheckpoints(session, database.dialect, tenant, thread_id),
      )
    },
  }
}

function keysOf(row: CheckpointRow): BlobKey[] {
  const refs = Object.entries(JSON.parse(row.refs) as Record<string, string>)
  return refs.map(([channel, checkpoint_id]) => ({ channel, checkpoint_id }))
}
