import { type SentTrace, tokensOf } from '../servers/load.ts'
import { jsonBody, type WeirProcess } from '../servers/weir-process.ts'

/** A TraceRun in the form of lists and traces, with the fields that the load sets. */
interface StoredTraceRun {
  id: string
  name: string
  run_type: string
  status: string
  start_time: string
  end_time: string | null
  total_tokens: number | null
  inputs?: unknown
  outputs?: unknown
}

interface Page {
  runs: StoredTraceRun[]
  cursors: { next: string | null }
}

interface Trace {
  runs: StoredTraceRun[]
  totals: { total_tokens: number; llm_runs: number }
}

/**
 * Every TraceRun of a project from POST /runs/query, page by page. A TraceRun that was listed twice is in the result
 * twice.
 */
export async function listTraceRuns(weir: WeirProcess, session_name: string): Promise<StoredTraceRun[]> {
  const name = encodeURIComponent(session_name)
  const [session] = await weir.json<{ id: string }[]>(`/api/v1/sessions?name=${name}`)
  const found: StoredTraceRun[] = []
  let cursor: string | null = null
  do {
    const query = { session: [session?.id], limit: 100, cursor }
    const page: Page = await weir.json<Page>('/api/v1/runs/query', jsonBody('POST', query))
    found.push(...page.runs)
    cursor = page.cursors.next
  } while (cursor !== null)
  return found
}

/** The fault of one stored TraceRun of a trace; '' if it has none. */
function faultOf(trace: SentTrace, id: string, stored: StoredTraceRun | undefined): string {
  if (stored === undefined) return trace.posted ? `${id} of trace ${trace.number} is lost` : ''
  const type = id === trace.root ? 'chain' : id === trace.llm ? 'llm' : 'tool'
  const start = new Date(trace.started + (id === trace.root ? 0 : 1)).toISOString()
  const [input, output] = tokensOf(trace.number)
  const wanted: Partial<StoredTraceRun> = {
    ...(trace.posted && { name: `${type}-${trace.number}`, run_type: type, start_time: start }),
    ...(trace.patched && { end_time: new Date(trace.started + 50).toISOString(), status: 'success' }),
    ...(trace.patched && type !== 'tool' && { total_tokens: input + output }),
  }
  const wrong = Object.entries(wanted).filter(
    ([field, value]) => stored[field as keyof StoredTraceRun] !== value,
  )
  const said = wrong.map(([field]) => `${field} is ${JSON.stringify(stored[field as keyof StoredTraceRun])}`)
  return said.length === 0 ? '' : `${id} of trace ${trace.number}: ${said.join(', ')}`
}

/**
 * Faults of the traces that were sent to a project: traces that were acknowledged but are missing, incomplete or listed
 * twice, and traces that were never sent.
 */
export async function storedFaults(
  weir: WeirProcess,
  session_name: string,
  traces: readonly SentTrace[],
): Promise<string[]> {
  const listed = await listTraceRuns(weir, session_name)
  const byId = new Map(listed.map((stored) => [stored.id, stored]))
  const sentIds = new Set(traces.flatMap((trace) => [trace.root, trace.llm, trace.tool]))
  const faults = traces.flatMap((trace) =>
    [trace.root, trace.llm, trace.tool].map((id) => faultOf(trace, id, byId.get(id))),
  )
  if (byId.size !== listed.length) faults.push(`${listed.length - byId.size} listed twice`)
  for (const id of byId.keys()) if (!sentIds.has(id)) faults.push(`${id} was never sent`)
  return faults.filter((fault) => fault !== '')
}

/** Faults of complete traces, with payloads and sums, from GET /traces. */
export async function traceFaults(weir: WeirProcess, traces: readonly SentTrace[]): Promise<string[]> {
  const faults: string[] = []
  for (const trace of traces.filter(({ posted, patched }) => posted && patched)) {
    const read = await weir.json<Trace>(`/api/v1/traces/${trace.root}`)
    const payload = (id: string) => {
      const stored = read.runs.find((candidate) => candidate.id === id)
      return JSON.stringify([stored?.inputs, stored?.outputs])
    }
    const [input, output] = tokensOf(trace.number)
    const expected = [
      [read.runs.length, 3],
      [read.totals.total_tokens, input + output],
      [read.totals.llm_runs, 1],
      [payload(trace.tool), JSON.stringify([{ city: trace.number }, { weather: trace.number }])],
      [payload(trace.root).includes(`"answer":${trace.number}`), true],
      [payload(trace.root).includes(`"question":${trace.number}`), true],
      [payload(trace.llm).includes(`question ${trace.number} `), true],
      [payload(trace.llm).includes(`answer ${trace.number}"`), true],
    ]
    for (const [got, wanted] of expected) {
      if (got !== wanted) faults.push(`trace ${trace.number} (${trace.root}): ${got}, not ${wanted}`)
    }
  }
  return faults
}

/** Every nth element, so that about `count` remain; the last elements are always among them. */
export function sample<T>(values: readonly T[], count: number): T[] {
  const step = Math.max(1, Math.floor(values.length / count))
  return values.filter((_, index) => index % step === 0 || index >= values.length - 3)
}
