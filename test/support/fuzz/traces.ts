import { expect } from 'vitest'
import { eventually } from '../eventually.ts'
import type { KnownRecords } from '../servers/known-records.ts'
import { jsonBody, KEY, type WeirProcess } from '../servers/weir-process.ts'
import { MEDIA } from '../traces/media.ts'
import { BOUNDARY, multipartBody } from '../traces/wire-body.ts'

/** Requests may delete traces of the second project; those of the first are kept for reads. */
const PROJECTS = ['fuzzed', 'deleted'] as const
const TRACES = 40
const VIEWED = 20
const HOUR = 3_600_000
const THREAD = 'thread 1'
const MATCHES = `eq(name, "${PROJECTS[0]}")`

type Server = Pick<WeirProcess, 'fetch' | 'json'>
type Records = Pick<KnownRecords, 'add'>

/**
 * Stores traces of one TraceRun with an attachment, shares one of them, and adds their ids to `records`. Resolves with
 * the ids that the campaign must not change.
 */
export async function addTraces(weir: Server, records: Records): Promise<readonly string[]> {
  const now = Date.now()
  const start_time = new Date(now - HOUR / 2).toISOString()
  const [kept, deleted] = await Promise.all(PROJECTS.map((name) => storeTraces(weir, name, start_time)))
  for (const id of [...kept!.ids, ...deleted!.ids]) {
    records.add('/api/v1/runs', { id, name: 'note' })
    records.add('/api/v1/traces', { trace_id: id })
  }
  for (const id of kept!.ids) {
    records.add('/api/v2/runs', { id })
    records.add('/api/v2/traces', { id, trace_id: id })
  }
  records.add('/api/v2/threads', { id: THREAD })
  const from = new Date(now - HOUR).toISOString()
  const to = new Date(now + HOUR).toISOString()
  records.add('/', {
    start_time: from,
    min_start_time: from,
    end_time: to,
    max_start_time: to,
    project_id: kept!.project_id,
    session: deleted!.project_id,
    filter: MATCHES,
    trace_filter: MATCHES,
    tree_filter: MATCHES,
    topic: 'ingest',
    kind: 'EXPERIMENT',
    key: KEY,
  })
  await addViews(weir, records)
  const [shared = ''] = kept!.ids
  await share(weir, records, { id: shared, project_id: kept!.project_id })
  return [kept!.project_id, shared]
}

/** Adds projects with a saved view, and a feedback config. */
async function addViews(weir: Server, records: Records): Promise<void> {
  for (let n = 0; n < VIEWED; n++) {
    const { id } = await weir.json<{ id: string }>(
      '/api/v1/sessions',
      jsonBody('POST', { name: `viewed ${n}` }),
    )
    const view = { display_name: 'view', params: {} }
    const made = await weir.json<{ id: string }>(`/api/v1/sessions/${id}/views`, jsonBody('POST', view))
    records.add('/api/v1/sessions', { id, view_id: made.id })
  }
  const config = { feedback_key: 'score', feedback_config: { type: 'freeform' } }
  await weir.json('/api/v1/feedback-configs', jsonBody('POST', config))
}

async function storeTraces(
  weir: Server,
  name: string,
  start_time: string,
): Promise<{ ids: string[]; project_id: string }> {
  const ids = Array.from({ length: TRACES }, () => crypto.randomUUID())
  const parts = ids.flatMap((id) => [
    { name: `post.${id}`, data: JSON.stringify(runOf(id, name, start_time)) },
    { name: `attachment.${id}.note`, data: 'x', type: 'text/plain' },
  ])
  const stored = await weir.fetch('/api/v1/runs/multipart', {
    method: 'POST',
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    body: multipartBody(parts),
  })
  expect(stored.status).toBe(202)
  const project_id = await eventually(async () => {
    const [found] = await weir.json<{ id: string }[]>(`/api/v1/sessions?name=${name}`)
    if (found === undefined) throw new Error(`no project ${name}`)
    return found.id
  })
  return { ids, project_id }
}

/**
 * Shares a trace. Adds the share's token, a feedback token, the place of the trace's file, and the signed link of its
 * attachment.
 */
async function share(
  weir: Server,
  records: Records,
  { id, project_id }: { id: string; project_id: string },
): Promise<void> {
  const { share_token } = await eventually(() =>
    weir.json<{ share_token: string }>(
      `/api/v1/runs/${id}/share`,
      jsonBody('PUT', { run_id: id, share_token: crypto.randomUUID() }),
    ),
  )
  for (const version of ['v1', 'v2']) records.add(`/api/${version}/public`, { token: share_token, id })
  const { url } = await weir.json<{ url: string }>(
    '/api/v1/feedback/tokens',
    jsonBody('POST', { run_id: id, feedback_key: 'score' }),
  )
  records.add('/api/v1/feedback/tokens', { token: url.slice(url.lastIndexOf('/') + 1) })
  records.add('/api/v1/runs', { id, path: '/inputs/file' })
  const run = await weir.json<{ attachments: Record<string, string> }>(
    `/api/v2/runs/${id}?project_id=${project_id}&selects=ATTACHMENTS`,
  )
  const link = new URL(Object.values(run.attachments)[0] ?? '')
  records.add('/api/v1/public/attachments', { id, name: 'note', ...Object.fromEntries(link.searchParams) })
}

function runOf(id: string, name: string, start_time: string): object {
  const order = `${start_time.replaceAll(/[-:.]/g, '').replace('Z', '000Z')}${id}`
  const extra = { metadata: { thread_id: THREAD } }
  const times = { start_time, end_time: start_time }
  return {
    id,
    trace_id: id,
    dotted_order: order,
    name,
    session_name: name,
    run_type: 'chain',
    ...times,
    inputs: { file: MEDIA },
    outputs: {},
    extra,
  }
}
