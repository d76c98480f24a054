import type { Operation } from '@langchain/langgraph-checkpoint'
import { AppError } from '../../../base/errors.ts'
import { isDeeperThan } from '../../../base/text/json-depth.ts'
import { LARGE_JSON_CHARS } from '../../../schema/raw-json.ts'
import type { Tenant } from '../../../runs/model.ts'
import type { Lease } from '../../../runs/run-store.ts'
import type { CheckpointRowStore } from '../checkpoints/row-store.ts'
import type { BlobRow, CheckpointRow, CheckpointScan, WriteRow } from '../checkpoints/rows.ts'
import type { GraphStoreBatch } from '../items/graph-store-batch.ts'
import {
  assertItems,
  integerField,
  isRecord,
  recordsField,
  type Body,
  maybeIntegerField,
  maybeTextField,
  textField,
  textsField,
  typeTag,
} from './requests.ts'
import { encodeCheckpoints, encodeContents, type Message, textReader } from './wire.ts'
import { parseExact } from '../../../schema/exact-json.ts'

type Run = (body: Body, parts: readonly Uint8Array[]) => Promise<Message>

/** Operations on storage that hosts of a deployment may use (P-25). */
export interface StorageOperations {
  get: Run
  list: Run
  marks: Run
  put: Run
  put_writes: Run
  store_batch: Run
}

/**
 * The storage of one tenant for hosts that are not trusted. Every request is checked, the tenant is fixed and never
 * taken from a request, and every write is fenced by `holdFence`.
 */
export function createStorageOperations(
  rows: CheckpointRowStore,
  batch: GraphStoreBatch,
  tenant: Tenant,
): StorageOperations {
  const put: Run = async (body, parts) => {
    await storeRows(rows, tenant, body, parts)
    return { body: {}, parts: [] }
  }
  return {
    get: (body) => get(rows, tenant, body),
    list: async (body) => encodeCheckpoints(await rows.list(tenant, scanOf(body))),
    async marks(body) {
      const { checkpoint_id, before } = scanOf(body)
      const scan = { thread_id: textField(body, 'thread_id'), checkpoint_id, before }
      return {
        body: { marks: await rows.marks(tenant, { ...scan, limit: integerField(body, 'limit') }) },
        parts: [],
      }
    },
    put,
    put_writes: (body, parts) => put({ ...body, checkpoints: [], blobs: [] }, parts),
    async store_batch(_body, parts) {
      const operations = parseOperations(parts)
      const results = await batch(operations as Operation[])
      return { body: {}, parts: [JSON.stringify(results)] }
    },
  }
}

/**
 * Reads checkpoints of a namespace. With `channels`: which of these channels are known. With `values`: these values,
 * and the writes of the checkpoints `writes_of`. Otherwise: the newest checkpoint with its values and writes.
 */
async function get(rows: CheckpointRowStore, tenant: Tenant, body: Body): Promise<Message> {
  const place = { thread_id: textField(body, 'thread_id'), checkpoint_ns: textField(body, 'checkpoint_ns') }
  if (body['channels'] !== undefined) {
    const keys = recordsField(body, 'channels').map((one) => ({
      channel: textField(one, 'channel'),
      version: textField(one, 'version'),
    }))
    return { body: { channels: [...(await rows.knownChannels(tenant, place, keys))] }, parts: [] }
  }
  if (body['values'] !== undefined) {
    const keys = recordsField(body, 'values').map((one) => ({
      checkpoint_id: textField(one, 'checkpoint_id'),
      channel: textField(one, 'channel'),
    }))
    const { values, writes } = await rows.contents(tenant, place, keys, textsField(body, 'writes_of'))
    return encodeContents(values, writes)
  }
  const found = await rows.newest(tenant, { ...scanOf(body), ...place })
  if (found === undefined) return { body: { rows: [], values: [], writes: [] }, parts: [] }
  const [head, contents] = [encodeCheckpoints([found.row]), encodeContents(found.values, found.writes)]
  return { body: { ...head.body, ...contents.body }, parts: [...head.parts, ...contents.parts] }
}

async function storeRows(
  rows: CheckpointRowStore,
  tenant: Tenant,
  body: Body,
  parts: readonly Uint8Array[],
): Promise<void> {
  const thread_id = textField(body, 'thread_id')
  const next = textReader(parts)
  const keyOf = (one: Body) => ({
    thread_id,
    checkpoint_ns: textField(one, 'checkpoint_ns'),
    checkpoint_id: textField(one, 'checkpoint_id'),
  })
  const checkpoints = recordsField(body, 'checkpoints').map((one): CheckpointRow => {
    const parent_id = maybeTextField(one, 'parent_id') ?? null
    const [checkpoint, refs, metadata] = [recordText(next()), refsText(next()), recordText(next())]
    return { ...keyOf(one), parent_id, checkpoint, refs, metadata }
  })
  const blobs = recordsField(body, 'blobs').map((one): BlobRow => {
    const [channel, version, type] = [textField(one, 'channel'), textField(one, 'version'), typeTag(one)]
    return { ...keyOf(one), channel, version, type, value: next() }
  })
  const writes = recordsField(body, 'writes').map((one): WriteRow => {
    const [task_id, channel, type] = [textField(one, 'task_id'), textField(one, 'channel'), typeTag(one)]
    const [idx, written_at] = [integerField(one, 'idx'), integerField(one, 'written_at')]
    return { ...keyOf(one), task_id, idx, written_at, channel, type, value: next() }
  })
  const expected = 3 * checkpoints.length + blobs.length + writes.length
  if (parts.length !== expected) throw new AppError('invalid_request')
  const fence = { tenant, thread_id, lease: leaseOf(body, tenant, thread_id) }
  await rows.queue.add(fence, { checkpoints, blobs, writes }, true)
}

/** Checks that a text is a JSON object, because the server itself parses the texts of checkpoints. */
function recordText(text: string): string {
  if (!isRecord(parseJson(text))) throw new AppError('invalid_request')
  return text
}

function refsText(text: string): string {
  const refs = parseJson(text)
  const isValid = isRecord(refs) && Object.values(refs).every((id) => typeof id === 'string')
  if (!isValid) throw new AppError('invalid_request')
  return text
}

/** Maximum characters of a text of a checkpoint, and of the operations of one request on items. */
const MAX_TEXT = LARGE_JSON_CHARS
const MAX_OPERATIONS = 4 << 20
/** Maximum nesting of these texts. */
const MAX_DEPTH = 1_000

function parseJson(text: string, max_chars = MAX_TEXT): unknown {
  if (text.length > max_chars) {
    const message = `A request to the storage has a text of more than ${max_chars >> 20} MiB that the server reads.`
    throw new AppError('body_too_large', { message })
  }
  if (isDeeperThan(MAX_DEPTH, Buffer.from(text))) throw new AppError('invalid_request')
  try {
    return parseExact(text)
  } catch (cause) {
    throw new AppError('invalid_request', { cause })
  }
}

function leaseOf(body: Body, tenant: Tenant, thread_id: string): Lease | null {
  const lease = body['lease']
  if (lease === null) return null
  if (!isRecord(lease)) throw new AppError('invalid_request')
  return { ...tenant, thread_id, run_id: textField(lease, 'run_id'), token: textField(lease, 'token') }
}

function scanOf(body: Body): CheckpointScan {
  return {
    thread_id: maybeTextField(body, 'thread_id'),
    checkpoint_ns: maybeTextField(body, 'checkpoint_ns'),
    checkpoint_id: maybeTextField(body, 'checkpoint_id'),
    before: maybeTextField(body, 'before'),
    limit: maybeIntegerField(body, 'limit'),
  }
}

function parseOperations(parts: readonly Uint8Array[]): readonly unknown[] {
  const operations = parseJson(textReader(parts)(), MAX_OPERATIONS)
  if (!Array.isArray(operations)) throw new AppError('invalid_request')
  for (const operation of operations) assertItems(operation)
  return operations
}
