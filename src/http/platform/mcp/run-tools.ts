import { isObject, type JsonObject, type JsonValue } from '../../../schema/json.ts'
import { ToolFailure } from './arguments.ts'
import {
  atPointer,
  cutText,
  fitItems,
  fitJson,
  MAX_TOKENS,
  TOKENS_ARGUMENT,
  type CountTokens,
} from './budget.ts'
import { projectIds, type ReadTool, readRun, readTool, type RunJson, wholeRunId } from './tool.ts'

const listProjectsTool = readTool(
  'list_projects',
  ['projects:read'],
  'List projects, newest activity first.',
  {
    limit: { type: 'integer', minimum: 1, maximum: 100, otherwise: 5, description: 'Number of projects.' },
    project_name: { type: 'text', description: 'Only projects whose name contains it.' },
    more_info: { type: 'flag', description: '"true" adds counts, times, tokens, cost and latencies.' },
  },
  async (args, { ask, count }) => {
    const isLong = args.flag('more_info') === true
    const query = {
      limit: String(args.integer('limit')),
      name_contains: args.text('project_name'),
      include_stats: String(isLong),
    }
    const sessions = (await ask('GET /sessions', { query })) as JsonObject[]
    const projects = sessions.map(({ id, name, ...rest }) => {
      const figures = isLong ? Object.fromEntries(FIGURES.map((key) => [key, rest[key] ?? null])) : {}
      return { name: name ?? null, project_id: id ?? null, ...figures }
    })
    const shown = fitItems(projects, count)
    const left = projects.length - shown.length
    return JSON.stringify({
      projects: shown,
      ...(left > 0 && {
        projects_left_out: left,
        next: 'project_name finds others by a part of their name.',
      }),
    })
  },
)

const FIGURES = [
  'run_count',
  'trace_count',
  'last_run_start_time',
  'total_tokens',
  'total_cost',
  'error_rate',
  'latency_p50',
  'latency_p99',
]

const PAGE_CHARS = { minimum: 2000, maximum: 30_000, otherwise: 25_000 } as const
/** Arguments that bound pages of characters, as in LangSmith's tools. */
export const PAGE_ARGUMENTS = {
  page_number: { type: 'integer', minimum: 1, maximum: 10_000, otherwise: 1, description: 'Page, from 1.' },
  max_chars_per_page: { type: 'integer', ...PAGE_CHARS, description: 'Characters of a page.' },
  preview_chars: {
    type: 'integer',
    minimum: 10,
    maximum: 10_000,
    otherwise: 150,
    description: 'Longest text shown.',
  },
} as const

const fetchRunsTool = readTool(
  'fetch_runs',
  ['projects:read', 'runs:read'],
  'List runs of a project with previews, newest first. For one trace use read_trace.',
  {
    project_name: {
      type: 'text',
      required: true,
      description: 'Name of the project, or a list of names as JSON text.',
    },
    limit: { type: 'integer', minimum: 1, maximum: 100, otherwise: 20, description: 'Number of runs.' },
    trace_id: { type: 'text', description: 'Only runs of this trace.' },
    run_type: { type: 'text', description: 'llm, chain, tool, retriever, …' },
    error: { type: 'flag', description: '"true": only failed ones; "false": only others.' },
    is_root: { type: 'flag', description: '"true": only roots of traces.' },
    filter: { type: 'text', description: 'As and(eq(name, "x"), gt(latency, "5s"), has(tags, "y")).' },
    trace_filter: { type: 'text', description: 'A filter on the root of the trace.' },
    tree_filter: { type: 'text', description: 'A filter that some run of the trace fits.' },
    order_by: {
      type: 'text',
      description: 'start_time, latency, total_tokens or total_cost; "-" in front: descending (the default).',
    },
    ...PAGE_ARGUMENTS,
  },
  async (args, { ask }) => {
    const order_by = args.text('order_by') ?? '-start_time'
    const body = {
      session: await projectIds(ask, args.required('project_name')),
      limit: args.integer('limit'),
      trace: args.text('trace_id'),
      run_type: args.text('run_type'),
      error: args.flag('error'),
      is_root: args.flag('is_root'),
      filter: args.text('filter'),
      trace_filter: args.text('trace_filter'),
      tree_filter: args.text('tree_filter'),
      order_by: order_by.replace(/^-/, ''),
      order: order_by.startsWith('-') ? 'desc' : 'asc',
    }
    const { runs } = (await ask('POST /runs/query', { body })) as { runs: JsonObject[] }
    const preview = args.integer('preview_chars')
    const shown = runs.map((run) => previewOf(run, preview))
    return charPage('runs', shown, {
      page_number: args.integer('page_number'),
      max_chars_per_page: args.integer('max_chars_per_page'),
      preview_chars: preview,
    })
  },
)

const SHOWN = [
  'id',
  'trace_id',
  'parent_run_id',
  'name',
  'run_type',
  'status',
  'start_time',
  'end_time',
  'error',
  'tags',
  'thread_id',
  'total_tokens',
  'total_cost',
]

/** A run of a list with its texts cut. */
function previewOf(run: JsonObject, chars: number): JsonObject {
  const { inputs_preview = null, outputs_preview = null, llm } = run
  const model = isObject(llm) ? { model: llm['model'] ?? null } : {}
  const all = { ...pick(run, SHOWN), ...model, inputs: inputs_preview, outputs: outputs_preview }
  return Object.fromEntries(
    Object.entries(all).map(([key, value]) => [
      key,
      typeof value === 'string' ? cutText(value, chars) : value,
    ]),
  )
}

/**
 * The page of `items` under the name `key`, as LangSmith's tools return it. An item that is longer than a page is cut
 * JSON text.
 */
export function charPage(
  key: string,
  items: readonly JsonValue[],
  {
    page_number,
    max_chars_per_page,
    preview_chars,
  }: { page_number: number; max_chars_per_page: number; preview_chars: number },
): string {
  const pages: JsonValue[][] = [[]]
  let chars = 0
  for (const whole of items) {
    const text = JSON.stringify(whole)
    const item = text.length < max_chars_per_page ? whole : cutText(text, Math.floor(max_chars_per_page / 2))
    const length = Math.min(text.length + 1, max_chars_per_page)
    if (chars + length > max_chars_per_page && chars > 0) {
      pages.push([])
      chars = 0
    }
    chars += length
    pages.at(-1)!.push(item)
  }
  const page = pages[page_number - 1] ?? []
  return JSON.stringify({
    [key]: page,
    page_number,
    total_pages: pages.length,
    max_chars_per_page,
    preview_chars,
  })
}

const PARTS = ['summary', 'messages', 'inputs', 'outputs', 'error', 'metadata', 'usage', 'events'] as const

const readRunTool = readTool(
  'read_run',
  ['runs:read'],
  'One part of a run. Long texts are cut and marked with their JSON Pointer; pass it as path to read on.',
  {
    run_id: {
      type: 'text',
      required: true,
      description: 'Id of the run, or its last 8 digits with trace_id.',
    },
    trace_id: { type: 'text', description: 'Id of the trace.' },
    part: { type: 'choice', choices: PARTS, description: 'Default summary.' },
    path: { type: 'text', description: 'JSON Pointer into the part, as /messages/0/content.' },
    offset: {
      type: 'integer',
      minimum: 0,
      maximum: 1_000_000_000,
      otherwise: 0,
      description: 'First character of a text, or first item of a list.',
    },
    max_tokens: TOKENS_ARGUMENT,
  },
  async (args, { ask, count }) => {
    const run = await readRun(ask, await wholeRunId(ask, args.required('run_id'), args.text('trace_id')))
    const part = args.text('part') ?? 'summary'
    const max = args.integer('max_tokens') - 30
    const path = args.text('path') ?? ''
    if (part === 'summary' && path === '') return fitJson(summaryOf(run), { at: '' }, max, count)
    const value = atPointer(partOf(run, part) ?? null, path)
    if (value === undefined)
      throw new ToolFailure(
        `${part} has nothing at ${cutText(path, 200)}. ${keysAbove(partOf(run, part), path)}`,
      )
    return valueText(value, { path, offset: args.integer('offset'), max, count })
  },
)

function partOf(run: RunJson, part: string): JsonValue | undefined {
  const llm = isObject(run['llm']) ? run['llm'] : {}
  if (part === 'messages') return llm['messages'] ?? null
  if (part === 'usage') return { ...pick(run, USAGE), ...pick(llm, ['usage_metadata', 'usage_source']) }
  if (part === 'metadata') return isObject(run['extra']) ? (run['extra']['metadata'] ?? null) : null
  if (part === 'summary') return summaryOf(run)
  return run[part] ?? null
}

const USAGE = [
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'prompt_cost',
  'completion_cost',
  'total_cost',
  'cost_source',
  'computed_cost',
  'usage_units',
  'unit_costs',
  'price_model_id',
]
const HEAD = [...SHOWN, 'feedback_stats']
const SUMMARY_CHARS = 600

function pick(from: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(
    keys.flatMap((key) => (from[key] === undefined || from[key] === null ? [] : [[key, from[key]]])),
  )
}

function summaryOf(run: RunJson): JsonObject {
  const llm = isObject(run['llm'])
    ? pick(run['llm'], ['provider', 'model', 'time_to_first_token_ms', 'tokens_per_second', 'issues'])
    : undefined
  const preview = (side: 'inputs' | 'outputs'): string =>
    cutText(JSON.stringify(run[side] ?? null), SUMMARY_CHARS)
  return { ...pick(run, HEAD), ...llm, inputs: preview('inputs'), outputs: preview('outputs') }
}

function keysAbove(part: JsonValue | undefined, path: string): string {
  const above = atPointer(part ?? null, path.slice(0, Math.max(0, path.lastIndexOf('/'))))
  if (typeof above !== 'object' || above === null) return ''
  return `There is: ${Object.keys(above).slice(0, 30).join(', ')}.`
}

/** A value within its budget; a text or a list begins at `offset`. */
function valueText(
  value: JsonValue,
  { path, offset, max, count }: { path: string; offset: number; max: number; count: CountTokens },
): string {
  if (typeof value !== 'string') return fitJson(value, { at: path, offset }, max, count)
  const rest = value.slice(offset, offset + MAX_TOKENS * 8)
  let length = rest.length
  while (length > 1 && count(rest.slice(0, length)) > max) length = Math.floor(length * 0.8)
  const end = offset + length
  return end >= value.length
    ? value.slice(offset)
    : `${value.slice(offset, end)}\n… (+${value.length - end} chars, offset=${end})`
}

const validateRunsTool = readTool(
  'validate_runs',
  ['runs:read'],
  'Check runs before they are sent: the report of what ingest would store, with fixes. Nothing is stored.',
  {
    payload: {
      type: 'json',
      required: true,
      description: 'A run, a list of runs, a batch or an OTLP export, as JSON or its text.',
    },
    max_tokens: TOKENS_ARGUMENT,
  },
  async (args, { ask, count }) => {
    const payload = args.json('payload')
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
    const report = await ask('POST /runs/validate', { body: Buffer.from(text) })
    return fitJson(report as JsonValue, { at: '' }, args.integer('max_tokens') - 20, count)
  },
)

export const RUN_TOOLS: readonly ReadTool[] = [listProjectsTool, fetchRunsTool, readRunTool, validateRunsTool]
