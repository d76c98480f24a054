import { AppError } from '../../../../base/errors.ts'
import {
  LINE_LEVELS,
  type LineLevel,
  type LogKind,
  type LogLine,
  type LogQuery,
} from '../../../../deploy/stores/log-lines.ts'
import type { FollowedLines, FollowQuery } from '../../../../deploy/follow-log.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import {
  choiceParameter,
  choicesParameter,
  integerParameter,
  optionalChoiceParameter,
  optionalTimeParameter,
  optionalUuidParameter,
  textParameter,
  uuidParameter,
} from '../../../api/parameters.ts'
import { bodyTime } from '../../request/body-fields.ts'
import { type SentEvent, STREAM_HEADERS } from '../../reply/event-streams.ts'
import { asksForEvents } from '../../reply/page-reply.ts'
import { type PlatformCaller, type PlatformRoute, route } from '../../route.ts'

const TAG = 'Deployments'
const ID = { id: uuidParameter('The deployment.') }
const REVISION = { ...ID, revision_id: uuidParameter('The revision.') }
/** The kinds of lines in the log of a deployment; builds have a separate log. */
const DEPLOY_KINDS: readonly LogKind[] = ['deploy', 'server']
const US_PER_MS = 1000
const LIMIT = 100

function toLine({ at_us, level, message, kind, revision_id }: LogLine) {
  return { id: String(at_us), timestamp: at_us / US_PER_MS, level, message, kind, revision_id }
}

/**
 * The page of `query`. The cursor of the next page is the time of the last line, because new lines have later times
 * (P-40).
 */
function toPage(
  lines: readonly LogLine[],
  { order, after_us }: LogQuery,
): SchemaTypes['deployment-log-page'] {
  const start = order === 'asc' ? 0 : Number.MAX_SAFE_INTEGER
  const last = lines.at(-1)?.at_us ?? after_us ?? start
  return { logs: lines.map(toLine), next_offset: String(last) }
}

function readCursor(text: string | null | undefined): number | undefined {
  if (text === undefined || text === null || text === '') return undefined
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  throw new AppError('invalid_request', { message: 'The offset is not one of next_offset.' })
}

function readLevel(text: string | null | undefined): LineLevel | undefined {
  if (text === undefined || text === null || text === '') return undefined
  const found = LINE_LEVELS.find((level) => level === text.toUpperCase())
  if (found !== undefined) return found
  throw new AppError('invalid_request', { message: `level is one of ${LINE_LEVELS.join(', ')}.` })
}

type Body = SchemaTypes['deployment-log-query']

/**
 * The kinds of lines that the body names, without those that the log does not have; all `kinds` of the log if the body
 * names none.
 * @throws AppError invalid_request if none is left
 */
function kindsIn({ kinds: wanted }: Body, kinds: readonly LogKind[]): readonly LogKind[] {
  const found = kinds.filter((kind) => wanted?.includes(kind) ?? true)
  if (found.length > 0) return found
  throw new AppError('invalid_request', {
    message: `This log has lines of the kinds ${kinds.join(', ')} only.`,
  })
}

function toQuery(body: Body, kinds: readonly LogKind[], revision_id: string | undefined): LogQuery {
  return {
    kinds: kindsIn(body, kinds),
    revision_id,
    order: body.order ?? 'desc',
    limit: body.limit ?? LIMIT,
    level: readLevel(body.level),
    text: body.query ?? undefined,
    from_us: bodyTime(body, 'start_time'),
    to_us: bodyTime(body, 'end_time'),
    after_us: readCursor(body.offset),
  }
}

async function pageOf(
  { deps, principal }: PlatformCaller,
  id: string,
  query: LogQuery,
): Promise<{ body: SchemaTypes['deployment-log-page'] }> {
  const control = await deps.controlPlane()
  return { body: toPage(await control.logs(principal.workspace_id, id, query), query) }
}

function revisionLogs(name: 'deploy_logs' | 'build_logs', kinds: readonly LogKind[]): PlatformRoute {
  return route({
    method: 'POST',
    path: `/v1/projects/{id}/revisions/{revision_id}/${name}`,
    needs: 'deployments:read',
    summary: name === 'build_logs' ? 'Log of the build of a revision' : 'Log of a revision',
    tag: TAG,
    params: REVISION,
    body: 'deployment-log-query',
    reply: 'deployment-log-page',
    errors: ['not_found'],
    handle: (context) =>
      pageOf(context, context.params.id, toQuery(context.body, kinds, context.params.revision_id)),
  })
}

/** Logs of deployments: under LangSmith's paths, and one path with all kinds of lines. */
export function deploymentLogRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'POST',
      path: '/v1/projects/{id}/deploy_logs',
      needs: 'deployments:read',
      summary: 'Log of a deployment',
      description: 'States, checks, and what its processes print.',
      tag: TAG,
      params: ID,
      body: 'deployment-log-query',
      reply: 'deployment-log-page',
      errors: ['not_found'],
      handle: (context) => pageOf(context, context.params.id, toQuery(context.body, DEPLOY_KINDS, undefined)),
    }),
    revisionLogs('deploy_logs', DEPLOY_KINDS),
    revisionLogs('build_logs', ['build']),
    allLinesRoute(),
  ]
}

const FOLLOWING =
  'A page of lines, oldest first. Send the request again with `next_offset` as `after` for newer lines. With `Accept: text/event-stream` the answer is server-sent events that go on: `open` first, then `log` for each line: without `after` or `Last-Event-ID` the newest lines, at most `limit`, and then each as it comes. The `id` of an event is the cursor after it. The stream ends after ten minutes; connect again and send `Last-Event-ID`.'

/** Route of lines of every kind: a page, or a stream of new lines (N13). */
function allLinesRoute(): PlatformRoute {
  return route({
    method: 'GET',
    path: '/deployments/{id}/logs',
    needs: 'deployments:read',
    summary: 'Lines of the log of a deployment',
    description: FOLLOWING,
    tag: TAG,
    params: ID,
    query: {
      kind: choicesParameter('Kinds of lines; default: all.', ['build', 'deploy', 'server']),
      revision_id: optionalUuidParameter('Lines of this revision only.'),
      start_time: optionalTimeParameter('Lines since this time.'),
      after: textParameter('`next_offset` of the page before.'),
      level: optionalChoiceParameter('This level and higher ones.', LINE_LEVELS),
      query: textParameter('Text that lines have.'),
      order: choiceParameter('`desc`: newest first; pages only.', ['asc', 'desc']),
      limit: integerParameter('Maximum number of records.', { minimum: 1, maximum: 1000, otherwise: LIMIT }),
    },
    headers: { 'last-event-id': 'Of a stream: go on after the event with this id.' },
    reply: 'bytes',
    reply_schema: 'deployment-log-page',
    other_types: ['text/event-stream'],
    errors: ['not_found', 'too_many_streams'],
    async handle(context) {
      const { deps, principal, params, req } = context
      const { kind, after, start_time, order, query: text, ...others } = context.query
      const kinds: readonly LogKind[] = kind.length === 0 ? ['build', ...DEPLOY_KINDS] : kind
      const from_us = start_time === undefined ? undefined : Math.ceil(start_time * US_PER_MS)
      const query = { ...others, kinds, text, from_us, after_us: readCursor(after) }
      if (asksForEvents(req.headers.accept)) {
        const seen = readCursor(String(req.headers['last-event-id'] ?? '').trim())
        const following = { ...query, after_us: seen ?? query.after_us }
        return await streamOf({ deps, principal }, params.id, following)
      }
      const { body } = await pageOf(context, params.id, { ...query, order })
      return { headers: { vary: 'accept' }, body: JSON.stringify(body) }
    },
  })
}

async function streamOf({ deps, principal }: PlatformCaller, id: string, query: FollowQuery) {
  const { workspace_id, holder } = principal
  const follow = await (await deps.controlPlane()).followLogs(workspace_id, id, query)
  const sent = deps.logStreams.enter(holder)
  const body = deps.logStreams.body((signal) => eventsOf(follow(signal)), holder)
  return { headers: { ...STREAM_HEADERS, vary: 'accept', 'content-type': 'text/event-stream' }, body, sent }
}

async function* eventsOf(parts: AsyncIterable<FollowedLines>): AsyncGenerator<SentEvent> {
  let isOpen = false
  for await (const { lines, cursor } of parts) {
    // The first event has the cursor as its id if there are no lines yet, so that a client can resume from it.
    if (!isOpen) yield { ...(lines.length === 0 && { id: String(cursor) }), event: 'open', data: {} }
    isOpen = true
    for (const line of lines) yield { id: String(line.at_us), event: 'log', data: toLine(line) }
  }
}
