import { createDeriver } from '../../../../src/ingest/derive/deriver.ts'
import { createOpenFragments } from '../../../../src/ingest/derive/open-fragments.ts'
import type { TraceStore } from '../../../../src/ingest/store/trace-store.ts'
import { builtInProcessors } from '../../../../processors/index.ts'
import { NIL_UUID } from '../../../../src/base/ids.ts'
import { dottedSegment } from '../../../../src/trace/derive/lineage/dotted-order.ts'
import { emptyFragment, RANK, writeFragment } from '../../../../src/trace/rows/fragment.ts'
import { createEstimates } from '../../../../src/trace/tokens/estimator.ts'
import { RowWriter } from '../../../../src/trace/rows/row-binary.ts'
import { createTokenizer } from '../../../../src/trace/tokens/tokenizer.ts'

/** The project to fill, and the number of its TraceRuns. */
export interface Filling {
  workspace_id: string
  project_id: string
  /** Number of the first trace. The first trace is the newest. */
  first: number
  /** Total number of TraceRuns, five in each trace. */
  runs: number
  /** Start of the newest trace in epoch milliseconds; each earlier trace starts a second before the next. */
  newest: number
}

const RUNS_OF_TRACE = 5
const TRACES_OF_BATCH = 2000

/**
 * The id of TraceRun `run` (0 is the root) of trace `trace` in a filled store. It looks random, but can be computed.
 */
export function filledId(trace: number, run: number): string {
  const mixed = Math.imul(trace * RUNS_OF_TRACE + run + 1, 2654435761) >>> 0
  const tail = String(trace).padStart(9, '0') + String(run).padStart(3, '0')
  return `${mixed.toString(16).padStart(8, '0')}-0000-4000-8000-${tail}`
}

/**
 * Fills a store with finished traces of a chain, a retriever, two llm calls and a tool. It uses the product's
 * derivation but not HTTP: a million TraceRuns take one or two minutes.
 */
export async function fillStore(store: TraceStore, filling: Filling): Promise<void> {
  const deriver = createDeriver(
    { processors: builtInProcessors, startEstimate: createEstimates(createTokenizer()) },
    createOpenFragments(0),
  )
  const end = filling.first + Math.ceil(filling.runs / RUNS_OF_TRACE)
  for (let from = filling.first; from < end; from += TRACES_OF_BATCH) {
    const rows = encodeTraces(filling, from, Math.min(end, from + TRACES_OF_BATCH))
    await store.insert('fragments', [rows])
    let step = deriver.begin({
      payloads: [rows],
      rows: undefined,
      generation: 0,
      headOnly: new Set(),
      periods: [],
    })
    while (step.kind === 'needs') step = deriver.goOn({ outlines: [], payloads: [], children: [], below: [] })
    await store.insert('runs', [step.rows])
  }
}

const TYPES = ['chain', 'retriever', 'llm', 'tool', 'llm'] as const

function encodeTraces(filling: Filling, from: number, to: number): Uint8Array {
  const writer = new RowWriter(1 << 20)
  for (let trace = from; trace < to; trace++) {
    const start = filling.newest - (trace - filling.first) * 1000
    const root = dottedSegment(start * 1000, filledId(trace, 0))
    for (const [run, run_type] of TYPES.entries())
      writeRun(writer, filling, { trace, run, run_type, start, root })
  }
  return writer.finish()
}

interface FilledRun {
  trace: number
  run: number
  run_type: string
  start: number
  root: string
}

function writeRun(
  writer: RowWriter,
  filling: Filling,
  { trace, run, run_type, start, root }: FilledRun,
): void {
  const id = filledId(trace, run)
  const begun = start + run * 10
  const json = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value))
  const usage_metadata = { input_tokens: 100 + (trace % 900), output_tokens: 10 + run }
  const said = `Question ${trace}: ${'where does the time go? '.repeat(8)}`
  writeFragment(writer, {
    ...emptyFragment(filling.workspace_id, id, RANK.create, begun + 20),
    project_id: filling.project_id,
    api_key_id: NIL_UUID,
    head: json({
      id,
      trace_id: filledId(trace, 0),
      ...(run === 0 ? {} : { parent_run_id: filledId(trace, 0) }),
      dotted_order: run === 0 ? root : `${root}.${dottedSegment(begun * 1000, id)}`,
      name: run === 0 ? 'agent' : `${run_type} step`,
      run_type,
      start_time: new Date(begun).toISOString(),
      end_time: begun + 9,
      tags: ['filled'],
    }),
    inputs: json(run_type === 'llm' ? { messages: [{ role: 'user', content: said }] } : { question: said }),
    outputs: json(
      run_type === 'llm'
        ? { role: 'assistant', content: 'It goes by.', usage_metadata }
        : { answer: 'It goes by.' },
    ),
    extra: json({
      metadata: { ls_provider: 'openai', ls_model_name: 'gpt-4.1-mini', user_id: `u${trace % 50}` },
    }),
  })
}
