import { BaseStore, type Item, type Operation, type OperationResults } from '@langchain/langgraph-checkpoint'
import { AppError } from '../../../base/errors.ts'
import type { CheckpointMark } from '../checkpoints/marks.ts'
import { byFence, createQueue, type QueueEntry } from '../checkpoints/queue.ts'
import type { CheckpointRowStore } from '../checkpoints/row-store.ts'
import type { StorageOperations } from './operations.ts'
import { storing } from '../items/graph-store-batch.ts'
import { decodeCheckpoints, decodeContents, encodeRows, type Message, type Received } from './wire.ts'

export type BrokerRequest = (op: keyof StorageOperations, message: Message) => Promise<Received>

/** Maximum characters of values in one frame. A single step with more characters is sent in one frame. */
const BATCH_CHARS = 8 << 20
/** Maximum number of rows in one frame, unless a single step has more: the broker refuses frames with long heads. */
const BATCH_ROWS = 1_000

/** The rows of checkpoints of one tenant, which the server reads and writes for this process. */
export function createBrokeredRowStore(request: BrokerRequest): CheckpointRowStore {
  const ask = (op: keyof StorageOperations, body: object): Promise<Received> =>
    request(op, { body: { ...body }, parts: [] })
  const queue = createQueue(
    (thread_id) => thread_id,
    (_line, entries) => sendEntries(request, entries),
  )
  const settled = async (thread_id: string | undefined): Promise<void> => {
    if (thread_id !== undefined) await queue.settled(thread_id)
  }
  return {
    queue,
    async newest(_tenant, scan) {
      await settled(scan.thread_id)
      const answer = await ask('get', scan)
      const { rows, rest } = decodeCheckpoints(answer)
      const [row] = rows
      return row && { row, ...decodeContents({ body: answer.body, parts: rest }) }
    },
    async list(_tenant, scan) {
      await settled(scan.thread_id)
      return decodeCheckpoints(await ask('list', scan)).rows
    },
    async contents(_tenant, { thread_id, checkpoint_ns }, keys, writes_of) {
      return decodeContents(await ask('get', { thread_id, checkpoint_ns, values: keys, writes_of }))
    },
    async knownChannels(_tenant, { thread_id, checkpoint_ns }, keys) {
      await settled(thread_id)
      const { body } = await ask('get', { thread_id, checkpoint_ns, channels: keys })
      return new Set(body['channels'] as string[])
    },
    async marks(_tenant, scan) {
      await settled(scan.thread_id)
      return (await ask('marks', scan)).body['marks'] as CheckpointMark[]
    },
    async deleteThread() {
      throw new AppError('forbidden', { message: 'Threads of a deployment are deleted through its API.' })
    },
  }
}

/** Sends the frames of each fence one after the other, so that later rows are not stored without earlier ones. */
async function sendEntries(request: BrokerRequest, entries: readonly QueueEntry[]): Promise<void> {
  await Promise.all(byFence(entries).map((group) => sendGroup(request, group)))
}

async function sendGroup(request: BrokerRequest, group: readonly QueueEntry[]): Promise<void> {
  let failure: { error: unknown } | undefined
  for (const entries of portionsOf(group)) {
    try {
      if (failure === undefined) await sendPortion(request, entries)
    } catch (error) {
      failure = { error }
    }
    for (const entry of entries) {
      if (failure === undefined) entry.done()
      else entry.failed(failure.error)
    }
  }
}

async function sendPortion(request: BrokerRequest, entries: readonly QueueEntry[]): Promise<void> {
  const [first] = entries
  if (first === undefined) return
  const { thread_id, lease } = first.fence
  const rows = {
    checkpoints: entries.flatMap(({ rows: { checkpoints = [] } }) => checkpoints),
    blobs: entries.flatMap(({ rows: { blobs = [] } }) => blobs),
    writes: entries.flatMap(({ rows: { writes = [] } }) => writes),
  }
  const { body, parts } = encodeRows(rows)
  const op = rows.checkpoints.length === 0 && rows.blobs.length === 0 ? 'put_writes' : 'put'
  const held = lease && { run_id: lease.run_id, token: lease.token }
  await request(op, { body: { ...body, thread_id, lease: held }, parts })
}

function* portionsOf(entries: readonly QueueEntry[]): Generator<QueueEntry[]> {
  let portion: QueueEntry[] = []
  let [chars, rows] = [0, 0]
  for (const entry of entries) {
    const { checkpoints = [], blobs = [], writes = [] } = entry.rows
    portion.push(entry)
    for (const row of [...blobs, ...writes]) chars += row.value.length
    rows += checkpoints.length + blobs.length + writes.length
    if (chars < BATCH_CHARS && rows < BATCH_ROWS) continue
    yield portion
    portion = []
    ;[chars, rows] = [0, 0]
  }
  if (portion.length > 0) yield portion
}

/** Long-term memory, whose operations are sent to the server. */
class BrokeredStore extends BaseStore {
  readonly #request: BrokerRequest

  constructor(request: BrokerRequest) {
    super()
    this.#request = request
  }

  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const { parts } = await storing(operations, async () =>
      this.#request('store_batch', { body: {}, parts: [JSON.stringify(operations)] }),
    )
    const [text] = parts
    const results = JSON.parse(Buffer.from(text ?? []).toString()) as unknown[]
    return operations.map((operation, i) => revive(operation, results[i])) as OperationResults<Op>
  }
}

/** Restores values that JSON does not have: the dates of items, and `undefined` as the result of a write. */
function revive(operation: Operation, result: unknown): unknown {
  if ('value' in operation) return undefined
  if ('namespacePrefix' in operation) return (result as Item[]).map(withDates)
  return 'key' in operation && result !== null ? withDates(result as Item) : result
}

function withDates<One extends Item>(item: One): One {
  return { ...item, createdAt: new Date(item.createdAt), updatedAt: new Date(item.updatedAt) }
}

/** A tenant's long-term memory through the broker. */
export function createBrokeredStore(request: BrokerRequest): BaseStore {
  return new BrokeredStore(request)
}
