import { isObject } from '../../../schema/json.ts'
import type { Arguments } from './arguments.ts'
import { fitLines, TOKENS_ARGUMENT } from './budget.ts'
import { mostTelling, nodeLine, type OutlineNode, outlineLines } from './outline.ts'
import {
  placeOf,
  readErrors,
  readRun,
  readTool,
  readTrace,
  type ToolContext,
  type TraceOutline,
} from './tool.ts'

const TRACE = { type: 'text', required: true, description: 'Id of the trace.' } as const
/** Tokens for the head and the last line of an answer. */
const FRAME_TOKENS = 160
const LINE_TOKENS = 12

export const readTraceTool = readTool(
  'read_trace',
  ['runs:read'],
  'The outline of a trace: totals, then one line for each run (indented by depth: name, type, status, duration, tokens, cost, last 8 digits of its id, error). Start here, then read_run for a part of one run.',
  {
    trace_id: TRACE,
    only: {
      type: 'choice',
      choices: ['errors', 'llm', 'tool'],
      description: 'Only these runs; errors come with the runs above them.',
    },
    root: { type: 'text', description: 'Only this run and those below it: id, or its last 8 digits.' },
    after: { type: 'text', description: 'Continue the list after this run: id, or its last 8 digits.' },
    max_tokens: TOKENS_ARGUMENT,
  },
  async (args, { ask, count }) => {
    const trace_id = args.required('trace_id')
    const [trace, errors] = await Promise.all([readTrace(ask, trace_id), readErrors(ask, trace_id)])
    const { nodes } = trace
    for (const node of nodes) {
      const error = errors.get(node.id)
      if (error !== undefined) node.error = error
    }
    const places = chosenPlaces(nodes, args)
    const head = headLine(trace_id, trace)
    const max = args.integer('max_tokens') - FRAME_TOKENS
    const isPlain = args.text('after') !== undefined || args.text('only') !== undefined
    const { text, shown, last } = isPlain
      ? listed(nodes, places, max, count)
      : summarized(nodes, places, max, count)
    const left = places.length - shown
    return [head, text, ...(left > 0 ? [leftLine(left, last)] : [])].join('\n')
  },
)

/** The places that the arguments select, in the order of the outline. */
function chosenPlaces(nodes: readonly OutlineNode[], args: Arguments): number[] {
  const [root, after, only] = [args.text('root'), args.text('after'), args.text('only')]
  const first = root === undefined ? 0 : placeOf(nodes, root)
  const depth = nodes[first]?.depth ?? 0
  const next = root === undefined ? -1 : nodes.findIndex((node, i) => i > first && node.depth <= depth)
  const begin = after === undefined ? first : Math.max(first, placeOf(nodes, after) + 1)
  const places = [...nodes.keys()].slice(begin, next === -1 ? nodes.length : next)
  if (only === undefined) return places
  if (only !== 'errors') return places.filter((place) => nodes[place]!.run_type === only)
  const kept = new Set<number>()
  for (const place of places) {
    if (nodes[place]!.status !== 'error') continue
    for (let at: number | undefined = place; at !== undefined && !kept.has(at); at = nodes[at]?.parent)
      kept.add(at)
  }
  return places.filter((place) => kept.has(place))
}

interface Listed {
  text: string
  /** TraceRuns that the lines stand for. */
  shown: number
  /** The last one in the list, if the list may be continued after it. */
  last: OutlineNode | undefined
}

/** The lines in order, as many as fit. */
function listed(
  nodes: readonly OutlineNode[],
  places: readonly number[],
  max: number,
  count: ToolContext['count'],
): Listed {
  const within = places.slice(0, Math.ceil(max / LINE_TOKENS))
  const lines = within.map((place) => nodeLine(nodes[place]!))
  const { text, shown } = fitLines(lines, max, count)
  return { text, shown, last: nodes[places[shown - 1] ?? -1] }
}

/** All lines if they fit, then with equal neighbours as one, then only the most telling ones. */
function summarized(
  nodes: readonly OutlineNode[],
  places: readonly number[],
  max: number,
  count: ToolContext['count'],
): Listed {
  const most = Math.ceil(max / LINE_TOKENS)
  for (const fold of [false, true]) {
    const lines = places.length > most && !fold ? undefined : outlineLines(nodes, places, fold)
    if (lines === undefined || lines.length > most) continue
    const fitted = fitLines(lines, max, count)
    if (fitted.shown === lines.length) return { text: fitted.text, shown: places.length, last: undefined }
  }
  for (let runs = most; runs > 1; runs = Math.floor(runs * 0.7)) {
    const telling = mostTelling(nodes, places, runs)
    const lines = outlineLines(nodes, telling, true)
    const fitted = fitLines(lines, max, count)
    if (fitted.shown === lines.length) return { text: fitted.text, shown: telling.length, last: undefined }
  }
  return { text: nodeLine(nodes[places[0] ?? 0]!), shown: 1, last: undefined }
}

function headLine(trace_id: string, { nodes, outline }: TraceOutline): string {
  const { totals, run_count, is_truncated } = outline
  const ends = nodes.map(({ start_ms, duration_ms }) => start_ms + (duration_ms ?? 0))
  const duration = ends.reduce((latest, end) => Math.max(latest, end), 0)
  const errors = nodes.filter(({ status }) => status === 'error').length
  const { total_tokens, total_cost, unpriced_runs } = totals ?? {}
  const unpriced = Number(unpriced_runs ?? 0)
  return [
    `trace ${trace_id}: ${run_count} runs${is_truncated ? ' (more were sent)' : ''}`,
    `${Math.round(duration)} ms`,
    `${Number(total_tokens ?? 0)} tokens`,
    typeof total_cost === 'string' ? `$${total_cost}` : 'cost unknown',
    `${errors} errors`,
    ...(unpriced > 0 ? [`${unpriced} model calls without a price (explain_cost)`] : []),
  ].join(', ')
}

function leftLine(left: number, last: OutlineNode | undefined): string {
  const ways =
    last === undefined ? 'only=errors, only=llm, root=ID for one branch' : `after=${last.id.slice(-8)}`
  return `… ${left} more runs. To read them: ${ways}, or a larger max_tokens.`
}

const HITS = 20
const RUNS_READ = 10
const AROUND = 80

export const searchTraceTool = readTool(
  'search_trace',
  ['runs:read'],
  'Find a text in the runs of a trace (names, inputs, outputs, errors, metadata): runs, JSON Pointers for read_run, and the text around.',
  {
    trace_id: TRACE,
    query: { type: 'text', required: true, description: 'Text, in any case.' },
    max_tokens: TOKENS_ARGUMENT,
  },
  async (args, { ask, count }) => {
    const [trace_id, query] = [args.required('trace_id'), args.required('query')]
    const answer = await ask('POST /traces/{trace_id}/search', {
      params: { trace_id },
      body: { query, limit: HITS },
    })
    const lines = (Array.isArray(answer) ? answer : [answer]) as {
      run_id?: string
      paths?: string[]
      cursors?: { next: string | null }
    }[]
    const hits = lines.flatMap(({ run_id, paths = [] }) => (run_id === undefined ? [] : [{ run_id, paths }]))
    if (hits.length === 0) return `No run of the trace contains "${query}".`
    const runs = await Promise.all(hits.slice(0, RUNS_READ).map(({ run_id }) => readRun(ask, run_id)))
    const shown = hits.flatMap(({ run_id, paths }, i) => {
      const run = runs[i]
      const name = run === undefined ? '' : `${String(run['name'])} [${String(run['run_type'])}] `
      const places = paths.map((path) => `  ${pointerOf(path)}${excerpt(run, path, query)}`)
      return [`${name}id:${run_id.slice(-8)}`, ...places]
    })
    const { text, shown: kept } = fitLines(shown, args.integer('max_tokens') - 40, count)
    const more = lines.some(({ cursors }) => cursors?.next) || kept < shown.length
    return more ? `${text}\n… more places. Use a longer text.` : text
  },
)

const STEP = /\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|[^.[\]]+/g

/** The keys of a path like `outputs.messages[0]["odd key"]`. */
function keysOf(path: string): string[] {
  return [...path.matchAll(STEP)].map(([step, quoted, index]) => {
    if (index !== undefined) return index
    return quoted === undefined ? step : (JSON.parse(`"${quoted}"`) as string)
  })
}

function pointerOf(path: string): string {
  return keysOf(path)
    .map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('')
}

/** The text around the first match of `query` in the value at `path`. */
function excerpt(run: unknown, path: string, query: string): string {
  const value = keysOf(path).reduce<unknown>(
    (at, key) => (isObject(at) || Array.isArray(at) ? Reflect.get(at, key) : undefined),
    run,
  )
  if (typeof value !== 'string') return ''
  const at = value.toLowerCase().indexOf(query.toLowerCase())
  if (at === -1) return ''
  const [begin, end] = [Math.max(0, at - AROUND), at + query.length + AROUND]
  return `: ${begin > 0 ? '…' : ''}${value.slice(begin, end).replaceAll(/\s+/g, ' ')}${end < value.length ? '…' : ''}`
}
