import { AppError } from '../../../../base/errors.ts'
import {
  LINE_LEVELS,
  type LineLevel,
  type LogKind,
  type LogLine,
  type LogQuery,
} from '../../../../deploy/stores/log-lines.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import {
  choicesParameter,
  integerParameter,
  optionalChoiceParameter,
  textParameter,
  uuidParameter,
} from '../../../api/parameters.ts'
import { bodyTime } from '../../request/body-fields.ts'
import { type PlatformContext, type PlatformRoute, route } from '../../route.ts'

const TAG = 'Deployments'
const ID = { id: uuidParameter('The deployment.') }
const REVISION = { ...ID, revision_id: uuidParameter('The revision.') }
/** The kinds of lines in the log of a deployment; builds have a log of their own. */
const DEPLOY_KINDS: readonly LogKind[] = ['deploy', 'server']
const US_PER_MS = 1000
const LIMIT = 100

function toLine({ at_us, level, message, kind, revision_id }: LogLine) {
  return { id: String(at_us), timestamp: at_us / US_PER_MS, level, message, kind, revision_id }
}

/** The page after `query`, whose cursor is the time of its last line: new lines have later times (P-40). */
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

/** The kinds of lines to read, of those that the log has. @throws AppError invalid_request for none of them */
function kindsIn({ kinds: wanted }: Body, kinds: readonly LogKind[]): readonly LogKind[] {
  const found = kinds.filter((kind) => wanted?.includes(kind) ?? true)
  if (found.length > 0) return found
  throw new AppError('invalid_request', {
    message: `This log has lines of the kinds ${kinds.join(', ')} only.`,
  })
}

function toQuery(body: Body, kinds: readonly LogKind[], revision_id: string | undefined): LogQuery {
  return {
    ...{ kinds: kindsIn(body, kinds), revision_id },
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
  { deps, principal }: Pick<PlatformContext, 'deps' | 'principal'>,
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
    route({
      method: 'GET',
      path: '/deployments/{id}/logs',
      summary: 'Lines of the log of a deployment, oldest first',
      description: 'Ask again with `next_offset` as `after` for the lines that have come since.',
      tag: TAG,
      params: ID,
      query: {
        kind: choicesParameter('Kinds of lines; default: all.', ['build', 'deploy', 'server']),
        after: textParameter('`next_offset` of the page before.'),
        level: optionalChoiceParameter('This level and higher ones.', LINE_LEVELS),
        query: textParameter('Text that lines have.'),
        limit: integerParameter('At most so many.', { minimum: 1, maximum: 1000, otherwise: LIMIT }),
      },
      reply: 'deployment-log-page',
      errors: ['not_found'],
      handle: (context) => {
        const { kind, after, level, query, limit } = context.query
        const kinds: readonly LogKind[] = kind.length === 0 ? ['build', ...DEPLOY_KINDS] : kind
        return pageOf(context, context.params.id, {
          ...{ kinds, order: 'asc', level, limit, text: query },
          after_us: readCursor(after),
        })
      },
    }),
  ]
}
