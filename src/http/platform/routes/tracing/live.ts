import type { Principal } from '../../../../identity/principal.ts'
import { AppError } from '../../../../base/errors.ts'
import { parseUuid } from '../../../../base/ids.ts'
import { wordsParameter } from '../../../api/parameters.ts'
import { STREAM_HEADERS } from '../../reply/event-streams.ts'
import type { LiveTopics } from '../../reply/live-streams.ts'
import { type PlatformRoute, route } from '../../route.ts'

const MAX_TOPICS = 20

function wrong(msg: string): AppError {
  return new AppError('invalid_request', { details: [{ loc: ['query', 'topic'], msg, type: 'value_error' }] })
}

/** @throws AppError invalid_request, forbidden */
function readTopics(topics: readonly string[], { workspace_id, permissions }: Principal): LiveTopics {
  if (topics.length === 0 || topics.length > MAX_TOPICS)
    throw wrong(`one to ${MAX_TOPICS} topics are required`)
  const [projects, traces] = [new Set<string>(), new Set<string>()]
  for (const topic of topics) {
    if (topic === 'ingest') continue
    const [kind, sent] = topic.split(':', 2)
    const id = parseUuid(sent)
    if (id === undefined || (kind !== 'project' && kind !== 'trace'))
      throw wrong('a topic is project:ID, trace:ID or ingest')
    ;(kind === 'project' ? projects : traces).add(id)
  }
  const ingest = topics.includes('ingest')
  if (ingest && !permissions.has('organization:read'))
    throw new AppError('permission_required', {
      message: 'Forbidden: the topic ingest needs the permission organization:read.',
    })
  return { workspace_id, projects, traces, ingest }
}

/** The stream of live changes. */
export function liveRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'GET',
      path: '/live',
      summary: 'Follow changes of runs and of ingest',
      description:
        'Server-sent events, at most four batches a second. `open` comes first: read your lists again then, since earlier changes are not sent. `runs` has `runs` (`run_id`, `trace_id`, `project_id`, `version`, `is_root`, `status`), and `more`: true when further runs have changed. `ingest` has the response of `GET /ingest/health`, and needs `organization:read`. The stream ends after ten minutes; connect again.',
      tag: 'Tracing',
      query: {
        topic: wordsParameter('`project:ID`, `trace:ID` or `ingest`; repeated or separated by commas.'),
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
