import type { Principal } from '../../../../identity/principal.ts'
import { AppError } from '../../../../base/errors.ts'
import { parseUuid } from '../../../../base/ids.ts'
import { wordsParameter } from '../../../api/parameters.ts'
import { STREAM_HEADERS } from '../../reply/event-streams.ts'
import type { LiveTopics } from '../../reply/live-streams.ts'
import { type PlatformRoute, route } from '../../route.ts'

const MAX_TOPICS = 20
/** Permissions of topics that the permission of the route does not cover. */
const PERMISSIONS = { ingest: 'organization:read', deployments: 'deployments:read' } as const

function wrong(msg: string): AppError {
  return new AppError('invalid_request', { details: [{ loc: ['query', 'topic'], msg, type: 'value_error' }] })
}

/** @throws AppError invalid_request, permission_required */
function readTopics(topics: readonly string[], { workspace_id, permissions }: Principal): LiveTopics {
  if (topics.length === 0 || topics.length > MAX_TOPICS)
    throw wrong(`one to ${MAX_TOPICS} topics are required`)
  const [projects, traces] = [new Set<string>(), new Set<string>()]
  for (const topic of topics) {
    if (topic === 'ingest' || topic === 'deployments') continue
    const [kind, sent] = topic.split(':', 2)
    const id = parseUuid(sent)
    if (id === undefined || (kind !== 'project' && kind !== 'trace'))
      throw wrong('a topic is project:ID, trace:ID, ingest or deployments')
    ;(kind === 'project' ? projects : traces).add(id)
  }
  for (const [topic, permission] of Object.entries(PERMISSIONS))
    if (topics.includes(topic) && !permissions.has(permission))
      throw new AppError('permission_required', {
        message: `Forbidden: the topic ${topic} needs the permission ${permission}.`,
      })
  const [ingest, deployments] = [topics.includes('ingest'), topics.includes('deployments')]
  return { workspace_id, projects, traces, ingest, deployments }
}

/** The stream of live changes. */
export function liveRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'GET',
      path: '/live',
      needs: 'runs:read',
      summary: 'Follow changes of runs, ingest and deployments',
      description:
        'Server-sent events, at most four batches a second. `open` comes first: read your lists again then, since earlier changes are not sent. `runs` has `runs` (`run_id`, `trace_id`, `project_id`, `version`, `is_root`, `status`), and `more`: true when further runs have changed. `ingest` has the response of `GET /ingest/health`, and needs `organization:read`. `deployments` says that a deployment or a revision has changed: read yours again; it needs `deployments:read`. The stream ends after ten minutes; connect again.',
      tag: 'Tracing',
      query: {
        topic: wordsParameter(
          '`project:ID`, `trace:ID`, `ingest` or `deployments`; repeated or separated by commas.',
        ),
      },
      reply: 'bytes',
      reply_type: 'text/event-stream',
      errors: ['too_many_streams'],
      async handle({ deps, principal, query }) {
        const topics = readTopics(query.topic, principal)
        const sent = deps.live.enter(principal.holder)
        return { headers: STREAM_HEADERS, body: deps.live.body(topics, principal.holder), sent }
      },
    }),
  ]
}
