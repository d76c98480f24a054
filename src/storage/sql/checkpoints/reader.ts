import {
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  maxChannelVersion,
  type SerializerProtocol,
  TASKS,
} from '@langchain/langgraph-checkpoint'
import type { Tenant } from '../../../runs/model.ts'
import { configOf } from './config.ts'
import {
  type BlobKey,
  type CheckpointRow,
  type CheckpointScan,
  type FoundBlob,
  type FoundWrite,
  type CheckpointNamespace,
} from './rows.ts'
import type { CheckpointRowStore } from './row-store.ts'
import { decodeValue } from './serde.ts'
import { containsJson } from '../driver/json-contains.ts'

/** A checkpoint in LangGraph's form, and the sources of its values. */
export interface ReadCheckpoint {
  tuple: CheckpointTuple
  /** The checkpoint that wrote each channel's value. */
  refs: Record<string, string>
}

export interface CheckpointSource {
  rows: CheckpointRowStore
  serde: SerializerProtocol
  tenant: Tenant
}

/** Number of checkpoints of each further page of a history. */
const PAGE = 256
/** Number of checkpoints of the first page. It is small, because readers of large states stop early. */
const FIRST_PAGE = 8

function placeKey({ thread_id, checkpoint_ns }: CheckpointNamespace): string {
  return `${thread_id} ${checkpoint_ns}`
}

function byPlace(rows: readonly CheckpointRow[]): CheckpointRow[][] {
  const groups = new Map<string, CheckpointRow[]>()
  for (const row of rows) {
    const group = groups.get(placeKey(row))
    if (group === undefined) groups.set(placeKey(row), [row])
    else group.push(row)
  }
  return [...groups.values()]
}

function refsOf(row: CheckpointRow): Record<string, string> {
  return JSON.parse(row.refs) as Record<string, string>
}

/** Keys of the values that are in `refs` but not yet in `values`. */
function missingKeys(
  place: CheckpointNamespace,
  refs: readonly Record<string, string>[],
  values: ReadonlyMap<string, unknown>,
): BlobKey[] {
  const prefix = placeKey(place)
  const missing = new Map<string, BlobKey>()
  for (const ref of refs) {
    for (const [channel, checkpoint_id] of Object.entries(ref)) {
      const key = `${prefix} ${checkpoint_id} ${channel}`
      if (!values.has(key)) missing.set(key, { checkpoint_id, channel })
    }
  }
  return [...missing.values()]
}

async function addValues(
  { serde }: CheckpointSource,
  place: CheckpointNamespace,
  found: readonly FoundBlob[],
  values: Map<string, unknown>,
): Promise<void> {
  const prefix = placeKey(place)
  for (const blob of found) {
    const value = decodeValue(serde, blob)
    const key = `${prefix} ${blob.checkpoint_id} ${blob.channel}`
    values.set(key, value instanceof Promise ? await value : value)
  }
}

/** Adds the packets of `Send`. Old versions of checkpoints store them as writes of the parent. */
async function moveSends(
  { rows, serde, tenant }: CheckpointSource,
  row: CheckpointRow,
  checkpoint: Checkpoint,
): Promise<void> {
  const parent_id = row.parent_id ?? ''
  const { writes } = await rows.contents(tenant, row, [], [parent_id])
  const sends = (writes.get(parent_id) ?? []).filter(({ channel }) => channel === TASKS)
  checkpoint.channel_values[TASKS] = await Promise.all(sends.map((send) => decodeValue(serde, send)))
  const versions = Object.values(checkpoint.channel_versions)
  checkpoint.channel_versions[TASKS] = versions.length > 0 ? maxChannelVersion(...versions) : 1
}

/** Converts a row to LangGraph's form. */
export async function toTuple(
  source: CheckpointSource,
  row: CheckpointRow,
  channel_values: Record<string, unknown>,
  writes: readonly FoundWrite[],
): Promise<CheckpointTuple> {
  const head = JSON.parse(row.checkpoint) as Omit<Checkpoint, 'id' | 'channel_values'>
  const checkpoint: Checkpoint = { ...head, id: row.checkpoint_id, channel_values }
  const pendingWrites: CheckpointPendingWrite[] = []
  for (const write of writes) {
    const value = decodeValue(source.serde, write)
    pendingWrites.push([write.task_id, write.channel, value instanceof Promise ? await value : value])
  }
  const metadata = decodeValue(source.serde, { type: 'json', value: row.metadata })
  const tuple: CheckpointTuple = {
    config: configOf(row, row.checkpoint_id),
    checkpoint,
    metadata: (metadata instanceof Promise ? await metadata : metadata) as CheckpointMetadata,
    pendingWrites,
  }
  if (row.parent_id === null) return tuple
  if (checkpoint.v < 4) await moveSends(source, row, checkpoint)
  return { ...tuple, parentConfig: configOf(row, row.parent_id) }
}

/**
 * Converts rows of one thread and namespace to checkpoint tuples; rows with a missing value are left out. `values`
 * caches values that were read before.
 */
async function assemble(
  source: CheckpointSource,
  rows: readonly CheckpointRow[],
  values: Map<string, unknown>,
): Promise<Map<CheckpointRow, ReadCheckpoint>> {
  const [place] = rows
  if (place === undefined) return new Map()
  const allRefs = rows.map(refsOf)
  const ids = rows.map((row) => row.checkpoint_id)
  const found = await source.rows.contents(source.tenant, place, missingKeys(place, allRefs, values), ids)
  await addValues(source, place, found.values, values)
  return await toRead(source, rows, values, found.writes)
}

/** Converts rows of one thread and namespace, whose values have been read, to checkpoint tuples. */
async function toRead(
  source: CheckpointSource,
  rows: readonly CheckpointRow[],
  values: ReadonlyMap<string, unknown>,
  writes: ReadonlyMap<string, readonly FoundWrite[]>,
): Promise<Map<CheckpointRow, ReadCheckpoint>> {
  const read = new Map<CheckpointRow, ReadCheckpoint>()
  for (const row of rows) {
    const refs = refsOf(row)
    const found = Object.entries(refs).map(
      ([channel, id]) => [channel, `${placeKey(row)} ${id} ${channel}`] as const,
    )
    if (!found.every(([, key]) => values.has(key))) continue
    const channel_values = Object.fromEntries(found.map(([channel, key]) => [channel, values.get(key)]))
    const tuple = await toTuple(source, row, channel_values, writes.get(row.checkpoint_id) ?? [])
    read.set(row, { tuple, refs })
  }
  return read
}

async function matching(
  { serde }: CheckpointSource,
  rows: readonly CheckpointRow[],
  filter: Record<string, unknown>,
  limit = Number.POSITIVE_INFINITY,
): Promise<CheckpointRow[]> {
  const found: CheckpointRow[] = []
  for (const row of rows) {
    const metadata = await decodeValue(serde, { type: 'json', value: row.metadata })
    if (containsJson(metadata, filter)) found.push(row)
    if (found.length >= limit) break
  }
  return found
}

/** The newest checkpoint that `scan` allows. */
export async function readNewest(
  source: CheckpointSource,
  scan: CheckpointScan,
): Promise<ReadCheckpoint | undefined> {
  const found = await source.rows.newest(source.tenant, scan)
  if (found === undefined) return undefined
  const values = new Map<string, unknown>()
  await addValues(source, found.row, found.values, values)
  return (await toRead(source, [found.row], values, found.writes)).get(found.row)
}

/**
 * Reads the checkpoints whose metadata contain `filter`, newest first. A value that several checkpoints share is one
 * object.
 */
export async function* readCheckpointHistory(
  source: CheckpointSource,
  scan: CheckpointScan,
  filter: Record<string, unknown>,
): AsyncGenerator<CheckpointTuple> {
  const { tenant } = source
  const isFiltered = Object.keys(filter).length > 0
  const found = await source.rows.list(tenant, isFiltered ? { ...scan, limit: undefined } : scan)
  const rows = isFiltered ? await matching(source, found, filter, scan.limit) : found
  const values = new Map<string, unknown>()
  let size = FIRST_PAGE
  for (let at = 0; at < rows.length; ) {
    const page = rows.slice(at, at + size)
    at += page.length
    size = Math.min(2 * size, PAGE)
    const read = new Map<CheckpointRow, ReadCheckpoint>()
    for (const some of byPlace(page)) {
      for (const [row, one] of await assemble(source, some, values)) read.set(row, one)
    }
    for (const row of page) {
      const one = read.get(row)
      if (one !== undefined) yield one.tuple
    }
  }
}
