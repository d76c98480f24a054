import { workerData } from 'node:worker_threads'
import { decodeRequest } from '../trace/decode.ts'
import { createEstimates } from '../trace/estimator.ts'
import type { LlmContext } from '../trace/llm.ts'
import { repriceRows } from '../trace/price/reprice-rows.ts'
import { createTokenizer } from '../trace/tokenizer.ts'
import { validateBody } from '../trace/validate-body.ts'
import { createDeriver } from './deriver.ts'
import { createLanePrices, loadDefaultPrices } from './lane-prices.ts'
import type { LaneData, LaneTasks } from './lanes.ts'
import { createOpenFragments } from './open-fragments.ts'
import { loadProcessors } from './processors.ts'
import { yieldTo } from './thread-priority.ts'
import { type TaskReply, serveTasks } from './serve-tasks.ts'
import { createTraceAssembly } from './trace-assembly.ts'

// Entry of every worker thread: payloads are parsed here and never on the main thread.
const data = workerData as LaneData
yieldTo(data.niceness)
const context: LlmContext = {
  processors: await loadProcessors(data.processor_modules),
  startEstimate: createEstimates(createTokenizer()),
}
const defaults = await loadDefaultPrices(data.has_prices)
const prices = createLanePrices(defaults.source)
const deriver = createDeriver(
  { ...context, prices: (workspace_id) => prices.of(workspace_id) },
  createOpenFragments(data.open_fragment_bytes),
)
const assembly = createTraceAssembly(context)

type Handlers = { [Name in keyof LaneTasks]: (input: LaneTasks[Name]['input']) => LaneTasks[Name]['output'] }

const handlers: Handlers = {
  decode: ({ head, body }) => decodeRequest(head, body),
  'derive-begin': ({ payloads, prices: snapshot, bare, periods }) => {
    prices.use(snapshot)
    return deriver.begin(payloads, bare, periods)
  },
  'derive-go-on': (read) => deriver.goOn(read),
  'read-trace-run': ({ read, choice }) => assembly.traceRun(read, choice),
  'read-trace': ({ read, trace_id, next }) => assembly.trace(read, { trace_id, next }),
  'read-page': ({ read, cursors, choice }) => assembly.page(read, cursors, choice),
  reprice: ({ rows, prices: snapshot }) => {
    prices.use(snapshot)
    return repriceRows(rows, (workspace_id) => prices.of(workspace_id))
  },
  'find-price': ({ workspace_id, query, prices: snapshot }) => {
    prices.use(snapshot)
    return { price: prices.of(workspace_id).find(query), default_prices: defaults.data }
  },
  validate: ({ head, body, prices: snapshot }) => {
    prices.use(snapshot)
    return validateBody(head, body, { ...context, prices: (workspace_id) => prices.of(workspace_id) })
  },
}

/** Moves a result's buffers to the caller instead of copying them. */
function moved(value: unknown): TaskReply {
  const transfer = new Set<ArrayBuffer>()
  const collect = (part: unknown): void => {
    if (part instanceof Uint8Array && part.buffer instanceof ArrayBuffer && part.byteLength > 4096)
      transfer.add(part.buffer)
  }
  collect(value)
  // Not of bytes: the values of those are as many numbers.
  if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)) {
    for (const part of Object.values(value)) {
      collect(part)
      if (Array.isArray(part)) for (const item of part) collect((item as { bytes?: unknown } | null)?.bytes)
    }
  }
  return { value, transfer: [...transfer] }
}

serveTasks(
  Object.fromEntries(
    Object.entries(handlers).map(([name, handle]) => [
      name,
      (input: unknown) => moved((handle as (input: unknown) => unknown)(input)),
    ]),
  ),
)
