import { workerData } from 'node:worker_threads'
import { builtInProcessors } from '../../../processors/index.ts'
import { loadOwnProcessors } from '../../trace/messages/own-processors.ts'
import { createEstimates } from '../../trace/tokens/estimator.ts'
import type { LlmContext } from '../../trace/derive/llm.ts'
import { matchLines } from '../../trace/json/matches.ts'
import { createPriceBook } from '../../trace/price/book.ts'
import { previewPrices } from '../../trace/price/reprice/preview-rows.ts'
import { repriceRows } from '../../trace/price/reprice/reprice-rows.ts'
import { createTokenizer } from '../../trace/tokens/tokenizer.ts'
import { validateBody } from '../../trace/decode/validate-body.ts'
import { createDeriver } from '../../ingest/derive/deriver.ts'
import { createLanePrices, loadDefaultPrices } from '../../ingest/derive/lane-prices.ts'
import type { LaneData, LaneTasks } from '../../ingest/lane-tasks.ts'
import { createOpenFragments } from '../../ingest/derive/open-fragments.ts'
import { yieldTo } from '../../worker-threads/thread-priority.ts'
import { moved } from '../../worker-threads/movable.ts'
import { serveTasks } from '../../worker-threads/serve-tasks.ts'
import { assembleSelected } from '../../query/selected-assembly.ts'
import { assembleTurns } from '../../query/threads/turn-assembly.ts'
import { mediaAt, withMediaLinks } from '../../trace/json/media.ts'
import { assembleOutline } from '../../query/outline-reads.ts'
import type { ReadTasks } from '../../query/read-tasks.ts'
import { createTraceAssembly } from '../../query/trace-assembly.ts'

// Entry of the threads that derive and read. Payloads are parsed here, never on the main thread.
const data = workerData as LaneData
yieldTo(data.niceness)
const context: LlmContext = {
  // A user's own processors are first, because the first of several equally good matches is used.
  processors: [...(await loadOwnProcessors(data.processor_modules)), ...builtInProcessors],
  startEstimate: createEstimates(createTokenizer()),
}
const defaults = loadDefaultPrices()
const prices = createLanePrices(defaults.source)
const deriver = createDeriver(
  { ...context, prices: (workspace_id) => prices.of(workspace_id) },
  createOpenFragments(data.open_fragment_bytes),
)
const assembly = createTraceAssembly(context)

type Tasks = Omit<LaneTasks, 'decode'> & ReadTasks
type Handlers = { [Name in keyof Tasks]: (input: Tasks[Name]['input']) => Tasks[Name]['output'] }

function readRun({ read, choice, prices: snapshot }: ReadTasks['read-trace-run']['input']) {
  if (snapshot === undefined) return assembly.traceRun(read, choice)
  prices.use(snapshot)
  return assembly.traceRun(read, choice, (workspace_id) => prices.of(workspace_id))
}

/** The fields that a search reads, and the id. */
const SEARCHED = ['id', 'name', 'inputs', 'outputs', 'error', 'extra']

const handlers: Handlers = {
  'derive-begin': ({ prices: snapshot, ...batch }) => {
    prices.use(snapshot)
    return deriver.begin(batch)
  },
  'derive-go-on': (read) => deriver.goOn(read),
  'read-trace-run': ({ media_link, ...asked }) => {
    const json = readRun(asked)
    return json === undefined || media_link === undefined ? json : withMediaLinks(json, media_link)
  },
  'read-media': ({ pointer, ...asked }) => {
    const json = readRun({ ...asked, choice: {} })
    return json && mediaAt(json, pointer)
  },
  'read-trace': ({ read, trace_id, next }) => assembly.trace(read, { trace_id, next }),
  'read-outline': assembleOutline,
  'read-page': ({ read, cursors, choice }) => assembly.page(read, cursors, choice),
  'read-file-part': ({ read, choice, format }) => assembly.filePart(read, choice, format),
  'read-matches': ({ read, cursors, text }) =>
    matchLines(assembly.page(read, cursors, { select: SEARCHED }), text),
  'read-selected': (read) => assembleSelected(read, context),
  'read-turns': (page) => assembleTurns(page, context),
  reprice: ({ rows, prices: snapshot }) => {
    prices.use(snapshot)
    return repriceRows(rows, (workspace_id) => prices.of(workspace_id))
  },
  'preview-prices': ({ rows, entries }) => previewPrices(rows, createPriceBook(entries, defaults.source)),
  'find-price': ({ workspace_id, query, prices: snapshot }) => {
    prices.use(snapshot)
    return { price: prices.of(workspace_id).find(query), default_prices: defaults.data }
  },
  'priced-models': () => defaults.models,
  validate: ({ head, body, prices: snapshot }) => {
    prices.use(snapshot)
    return validateBody(head, body, { ...context, prices: (workspace_id) => prices.of(workspace_id) })
  },
}

serveTasks(
  Object.fromEntries(
    Object.entries(handlers).map(([name, handle]) => [
      name,
      (input: unknown) => moved((handle as (input: unknown) => unknown)(input)),
    ]),
  ),
)
