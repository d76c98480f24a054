import { AppError } from '../../../../base/errors.ts'
import type { RunFigures } from '../../../../ingest/store/stats-store.ts'
import type { ThreadChoice, ThreadItem } from '../../../../query/threads/thread-reads.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { formatTime } from '../../../../trace/derive/time.ts'
import { type FeedbackStats, feedbackStatsJson } from '../../../../trace/json/feedback-stats.ts'
import { TURN_SELECTS } from '../../../../trace/json/turn.ts'
import {
  choicesParameter,
  integerParameter,
  requiredTextParameter,
  textParameter,
  uuidParameter,
} from '../../../api/parameters.ts'
import { bodyFault } from '../../../body/json.ts'
import { EVENT_STREAM, pageReply } from '../../reply/page-reply.ts'
import { bodyTime, defined, found } from '../../request/body-fields.ts'
import { type PlatformRoute, route } from '../../route.ts'
import { projectsOf } from './asked-runs.ts'

const TAG = 'API v2: threads'
const PAGE_SIZE = 20
const THREAD = { id: requiredTextParameter('Id of the thread: any text, percent-encoded.') }

type QueryBody = SchemaTypes['trace-thread-query'] | SchemaTypes['trace-thread-figures-query']

function choiceOf(body: QueryBody, project_id: string): ThreadChoice {
  const { filter, trace_filter, tree_filter, thread_filter } = body
  return {
    project_id,
    ...defined({
      from: bodyTime(body, 'min_start_time'),
      to: bodyTime(body, 'max_start_time'),
      filter: filter || undefined,
      trace_filter: trace_filter || undefined,
      tree_filter: tree_filter || undefined,
      thread_filter: thread_filter || undefined,
    }),
  }
}

function queryRoute(): PlatformRoute {
  return route({
    method: 'POST',
    path: '/v2/threads/query',
    needs: 'runs:read',
    summary: 'List threads of traces with their figures, latest activity first, page by page',
    description: `The cursor stays valid while runs are being written. ${EVENT_STREAM}`,
    tag: TAG,
    body: 'trace-thread-query',
    reply: 'bytes',
    reply_schema: 'trace-thread-page',
    other_types: ['text/event-stream'],
    errors: ['not_found', 'not_implemented', 'store_unavailable', 'rate_limited'],
    async handle({ deps, principal: { workspace_id, api_key_id }, body, req, gone }) {
      const { cursor, page_size, ai_search, sem_filter, ...request } = body
      if ((ai_search ?? sem_filter ?? null) !== null) {
        const message = 'Searching with a model is not supported; use the filters.'
        throw new AppError('not_implemented', { message })
      }
      const [project_id = ''] = await projectsOf(deps, workspace_id, [body.project_id])
      const wanted = {
        choice: choiceOf(body, project_id),
        request: defined(request),
        page_size: page_size ?? PAGE_SIZE,
      }
      const asker = { holder: api_key_id, gone: gone() }
      const page = await deps.threadReads.page(workspace_id, { ...wanted, ...(cursor && { cursor }) }, asker)
      const json: SchemaTypes['trace-thread-page'] = { ...page, items: page.items.map(threadJson) }
      return pageReply(req, Buffer.from(JSON.stringify(json)))
    },
  })
}

function threadJson(thread: ThreadItem): SchemaTypes['trace-thread'] {
  const { thread_id, turns, first_trace_id, last_trace_id, first_inputs, last_outputs, last_error, latency } =
    thread
  const last_start = formatTime(thread.last_start)
  return {
    thread_id,
    count: turns,
    trace_id: last_trace_id,
    first_trace_id,
    last_trace_id,
    start_time: last_start,
    min_start_time: formatTime(thread.first_start),
    max_start_time: last_start,
    first_inputs,
    last_outputs,
    ...(last_error !== '' && { last_error }),
    num_errored_turns: thread.errored_turns,
    latency_p50: latency[0],
    latency_p95: latency[1],
    latency_p99: latency[2],
    total_tokens: thread.prompt_tokens + thread.completion_tokens,
    total_cost: dollars(thread.total_cost),
    unpriced_runs: thread.unpriced_runs,
    total_token_details: added(thread.prompt_token_details, thread.completion_token_details),
    total_cost_details: added(costs(thread.prompt_cost_details), costs(thread.completion_cost_details)),
    feedback_stats: feedbackStatsJson(thread.feedback),
    query_metadata: null,
  }
}

const dollars = (cost: string | null): number | null => (cost === null ? null : Number(cost))

function costs(details: Readonly<Record<string, string>>): Record<string, number> {
  return Object.fromEntries(Object.entries(details).map(([key, cost]) => [key, Number(cost)]))
}

function added(
  a: Readonly<Record<string, number>>,
  b: Readonly<Record<string, number>>,
): Record<string, number> {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  return Object.fromEntries([...keys].map((key) => [key, (a[key] ?? 0) + (b[key] ?? 0)]))
}

function tracesRoute(): PlatformRoute {
  return route({
    method: 'GET',
    path: '/v2/threads/{id}/traces',
    needs: 'runs:read',
    summary: 'List the traces of a thread with selected fields, oldest first, page by page',
    tag: TAG,
    params: THREAD,
    query: {
      project_id: uuidParameter('The project of the thread.'),
      filter: textParameter('LangSmith filter expression on the root of the trace.'),
      trace_filter: textParameter('The same.'),
      tree_filter: textParameter('LangSmith filter expression on some run of the trace.'),
      selects: choicesParameter('Fields to answer; trace_id always.', TURN_SELECTS),
      page_size: integerParameter('Traces of a page.', { minimum: 1, maximum: 100, otherwise: PAGE_SIZE }),
      cursor: textParameter('next_cursor of the page before, with all other parameters as there.'),
    },
    reply: 'bytes',
    reply_schema: 'trace-turn-page',
    errors: ['not_found', 'store_unavailable', 'rate_limited'],
    async handle({ deps, principal: { workspace_id, api_key_id }, params: { id }, query, gone }) {
      const { cursor, page_size, selects, ...rest } = query
      const filters = defined({
        filter: rest.filter || undefined,
        trace_filter: rest.trace_filter || undefined,
        tree_filter: rest.tree_filter || undefined,
      })
      await projectsOf(deps, workspace_id, [query.project_id])
      const request = { id, project_id: query.project_id, selects, ...filters }
      const wanted = { request, project_id: query.project_id, thread_id: id, selects, page_size, ...filters }
      const asker = { holder: api_key_id, gone: gone() }
      const page = await deps.threadReads.turns(workspace_id, { ...wanted, ...(cursor && { cursor }) }, asker)
      return { body: found(page, 'Thread') }
    },
  })
}

type Stats = Required<SchemaTypes['trace-thread-stats']>
const raw = (details: Record<string, number>) => ({ raw: details })
const time = (micros: number | null): string | null => (micros === null ? null : formatTime(micros))

/** The figures of a thread by their names in `select`: the field of each, and the function that reads its value. */
const STATS = {
  TURNS: ['turns', (one) => one.turns],
  FIRST_START_TIME: ['first_start_time', (one) => time(one.first_start)],
  LAST_START_TIME: ['last_start_time', (one) => time(one.last_start)],
  LAST_END_TIME: ['last_end_time', (one) => time(one.last_end)],
  LATENCY_P50: ['latency_p50_seconds', (one) => one.latency[0]],
  LATENCY_P95: ['latency_p95_seconds', (one) => one.latency[1]],
  LATENCY_P99: ['latency_p99_seconds', (one) => one.latency[2]],
  PROMPT_TOKENS: ['prompt_tokens', (one) => one.prompt_tokens],
  PROMPT_COST: ['prompt_cost', (one) => dollars(one.prompt_cost)],
  COMPLETION_TOKENS: ['completion_tokens', (one) => one.completion_tokens],
  COMPLETION_COST: ['completion_cost', (one) => dollars(one.completion_cost)],
  TOTAL_TOKENS: ['total_tokens', (one) => one.prompt_tokens + one.completion_tokens],
  TOTAL_COST: ['total_cost', (one) => dollars(one.total_cost)],
  UNPRICED_RUNS: ['unpriced_runs', (one) => one.unpriced_runs],
  PROMPT_TOKEN_DETAILS: ['prompt_token_details', (one) => raw(one.prompt_token_details)],
  COMPLETION_TOKEN_DETAILS: ['completion_token_details', (one) => raw(one.completion_token_details)],
  PROMPT_COST_DETAILS: ['prompt_cost_details', (one) => raw(costs(one.prompt_cost_details))],
  COMPLETION_COST_DETAILS: ['completion_cost_details', (one) => raw(costs(one.completion_cost_details))],
  FEEDBACK_STATS: ['feedback_stats', (one) => feedbackStatsJson(one.feedback)],
} as const satisfies Record<string, readonly [keyof Stats, (one: ThreadItem) => Stats[keyof Stats]]>
/** Names of all figures of a thread. */
export const STATS_SELECTS = Object.keys(STATS) as [keyof typeof STATS, ...(keyof typeof STATS)[]]

function statsRoute(): PlatformRoute {
  return route({
    method: 'GET',
    path: '/v2/threads/{id}/stats',
    needs: 'runs:read',
    summary: 'Selected figures of one thread',
    tag: TAG,
    params: THREAD,
    query: {
      session_id: uuidParameter('The project of the thread.'),
      selects: choicesParameter('Figures to answer; at least one.', STATS_SELECTS),
      filter: textParameter('LangSmith filter expression on the roots of the traces to look at.'),
    },
    reply: 'trace-thread-stats',
    errors: ['not_found', 'store_unavailable', 'rate_limited'],
    async handle({ deps, principal: { workspace_id, api_key_id }, params: { id }, query, gone }) {
      const { session_id: project_id, selects, filter } = query
      if (selects.length === 0) {
        const message = 'at least one select is needed'
        throw bodyFault([{ code: 'missing_field', path: 'selects', message }])
      }
      await projectsOf(deps, workspace_id, [project_id])
      const asker = { holder: api_key_id, gone: gone() }
      const thread = { project_id, thread_id: id, ...(filter && { filter }) }
      const one = found(await deps.threadReads.stats(workspace_id, thread, asker), 'Thread')
      return { body: Object.fromEntries(selects.map((select) => [STATS[select][0], STATS[select][1](one)])) }
    },
  })
}

interface Figures {
  threads: number
  traces: number
  figures: RunFigures
  feedback: FeedbackStats
}
type FiguresSelect = SchemaTypes['trace-thread-figures-query']['select'][number]
type FiguresBody = Required<SchemaTypes['trace-thread-figures']>

const FIGURES: Readonly<
  Record<FiguresSelect, readonly [keyof FiguresBody, (all: Figures) => FiguresBody[keyof FiguresBody]]>
> = {
  THREAD_COUNT: ['thread_count', ({ threads }) => threads],
  TRACE_COUNT: ['trace_count', ({ traces }) => traces],
  TOTAL_TOKENS: ['total_tokens', ({ figures }) => figures.prompt_tokens + figures.completion_tokens],
  TOTAL_COST: ['total_cost', ({ figures }) => dollars(figures.total_cost)],
  ERROR_RATE: ['error_rate', ({ figures }) => figures.error_rate],
  STREAMING_RATE: ['streaming_rate', ({ figures }) => figures.streaming_rate],
  LATENCY_P50: ['latency_p50_seconds', ({ figures }) => figures.latency[0]],
  LATENCY_P99: ['latency_p99_seconds', ({ figures }) => figures.latency[1]],
  MEDIAN_TOKENS: ['median_tokens', ({ figures }) => figures.total_tokens_each[0]],
  FIRST_TOKEN_P50: ['first_token_p50_seconds', ({ figures }) => figures.first_token[0]],
  FIRST_TOKEN_P99: ['first_token_p99_seconds', ({ figures }) => figures.first_token[1]],
  PROMPT_TOKENS: ['prompt_tokens', ({ figures }) => figures.prompt_tokens],
  COMPLETION_TOKENS: ['completion_tokens', ({ figures }) => figures.completion_tokens],
  PROMPT_COST: ['prompt_cost', ({ figures }) => dollars(figures.prompt_cost)],
  COMPLETION_COST: ['completion_cost', ({ figures }) => dollars(figures.completion_cost)],
  PROMPT_TOKEN_DETAILS: ['prompt_token_details', ({ figures }) => figures.prompt_token_details],
  COMPLETION_TOKEN_DETAILS: ['completion_token_details', ({ figures }) => figures.completion_token_details],
  PROMPT_COST_DETAILS: ['prompt_cost_details', ({ figures }) => costs(figures.prompt_cost_details)],
  COMPLETION_COST_DETAILS: [
    'completion_cost_details',
    ({ figures }) => costs(figures.completion_cost_details),
  ],
  THREAD_FEEDBACK_STATS: ['thread_feedback_stats', ({ feedback }) => feedbackStatsJson(feedback)],
}

function figuresRoute(): PlatformRoute {
  return route({
    method: 'POST',
    path: '/v2/threads/stats',
    needs: 'runs:read',
    summary: 'Selected figures over all traces of the threads of a window',
    tag: TAG,
    body: 'trace-thread-figures-query',
    reply: 'trace-thread-figures',
    errors: ['not_found', 'store_unavailable', 'rate_limited'],
    async handle({ deps, principal: { workspace_id, api_key_id }, body, gone }) {
      const [project_id = ''] = await projectsOf(deps, workspace_id, [body.project_id])
      const asker = { holder: api_key_id, gone: gone() }
      const all = await deps.threadReads.figures(workspace_id, choiceOf(body, project_id), asker)
      return {
        body: Object.fromEntries(body.select.map((select) => [FIGURES[select][0], FIGURES[select][1](all)])),
      }
    },
  })
}

function groupsRoute(): PlatformRoute {
  return route({
    method: 'POST',
    path: '/runs/group',
    needs: 'runs:read',
    summary: 'List the threads of a project with their figures, latest activity first',
    tag: 'Runs',
    body: 'trace-run-group-query',
    reply: 'trace-run-groups',
    errors: ['not_found', 'store_unavailable', 'rate_limited'],
    async handle({ deps, principal: { workspace_id, api_key_id }, body, gone }) {
      const [project_id = ''] = await projectsOf(deps, workspace_id, [body.session_id])
      const times = defined({ to: bodyTime(body, 'end_time'), filter: body.filter || undefined })
      const choice = { project_id, from: bodyTime(body, 'start_time') ?? 0, ...times }
      const wanted = { choice, offset: body.offset ?? 0, limit: body.limit ?? 10 }
      const asker = { holder: api_key_id, gone: gone() }
      const { items, total } = await deps.threadReads.groups(workspace_id, wanted, asker)
      return { body: { groups: items.map(groupJson), total } }
    },
  })
}

/** A thread in v1. */
function groupJson(thread: ThreadItem): SchemaTypes['trace-run-groups']['groups'][number] {
  const { thread_id, count, total_tokens, total_cost, feedback_stats, ...rest } = threadJson(thread)
  const { min_start_time, max_start_time, latency_p50, latency_p99, first_inputs, last_outputs, last_error } =
    rest
  return {
    group_key: thread_id,
    thread_id,
    filter: `eq(thread_id, ${JSON.stringify(thread_id)})`,
    count,
    total_tokens,
    total_cost,
    min_start_time,
    max_start_time,
    latency_p50,
    latency_p99,
    feedback_stats,
    first_inputs,
    last_outputs,
    last_error: last_error ?? null,
  }
}

/** Reading threads of traces. */
export function threadV2Routes(): PlatformRoute[] {
  return [queryRoute(), figuresRoute(), tracesRoute(), statsRoute(), groupsRoute()]
}
