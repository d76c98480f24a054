import { call } from '../../api/call.ts'
import { previewText } from '../format/preview-text.ts'

/** Something that the palette finds by its name. */
export interface Named {
  id: string
  name: string
  kind: string
  /** Its page; it may have to be looked up first. */
  path: string | (() => Promise<string>)
  /** What the text was found in, if that is not the name. */
  found?: string
}

const MOST_NAMED = 8
const MOST_DEPLOYMENTS = 100
const MOST_MODELS = 100
const MOST_RUNS = 30
/** Shorter texts are in nearly every thread. */
const LEAST_OF_THREAD = 3
const THREADS_OF_MS = 30 * 86_400_000
const MOST_SHOWN = 60

const sinceIso = (): string => new Date(Date.now() - THREADS_OF_MS).toISOString()
const quoted = (text: string): string => JSON.stringify(text)

async function projects(text: string, signal: AbortSignal): Promise<Named[]> {
  const query = { name_contains: text, limit: MOST_NAMED }
  const found = await call('GET /api/v1/sessions', { query, signal })
  return found.map(({ id, name }) => ({ id, name, kind: 'project', path: `/projects/${id}` }))
}

async function deployments(_text: string, signal: AbortSignal): Promise<Named[]> {
  const found = await call('GET /api/v2/deployments', { query: { limit: MOST_DEPLOYMENTS }, signal })
  return found.resources.map(({ id, name }) => ({
    id,
    name,
    kind: 'deployment',
    path: `/deployments/${encodeURIComponent(name)}`,
  }))
}

/** The list of the calls of a model, in the project that has most of them in the last 30 days. */
async function callsOf(model: string): Promise<string> {
  const filter = `eq(model, ${quoted(model)})`
  const group_by = { attribute: 'session' as const, max_groups: 1 }
  const groups = await call('POST /api/v1/runs/stats', { body: { filter, start_time: sinceIso(), group_by } })
  const [project] = Object.keys(groups)
  const search = new URLSearchParams({ view: 'runs', q: filter, t: '30d' })
  return project === undefined ? '/usage?by=model' : `/projects/${project}?${search}`
}

async function models(_text: string, signal: AbortSignal): Promise<Named[]> {
  const body = { field: 'model' as const, limit: MOST_MODELS, start_time: sinceIso() }
  const { values } = await call('POST /api/v1/runs/facets', { body, signal })
  return values.map(({ value }) => ({ id: value, name: value, kind: 'model', path: () => callsOf(value) }))
}

async function members(_text: string, signal: AbortSignal): Promise<Named[]> {
  const found = await call('GET /api/v1/orgs/current/members', { query: {}, signal })
  return found.map(({ user_id: id, email, full_name }) => ({
    id,
    name: full_name === null || full_name === '' ? email : `${full_name} · ${email}`,
    kind: 'member',
    path: '/settings?view=members',
  }))
}

/** Threads of the last 30 days in which a trace has the text, the newest first. */
async function threads(text: string, signal: AbortSignal): Promise<Named[]> {
  if (text.length < LEAST_OF_THREAD) return []
  const { runs } = await call('POST /api/v1/runs/query', {
    body: {
      is_root: true,
      filter: `search(${quoted(text)})`,
      start_time: sinceIso(),
      select: ['id', 'thread_id', 'session_id', 'inputs_preview'],
      limit: MOST_RUNS,
    },
    signal,
  })
  const found = new Map<string, Named>()
  for (const { thread_id, session_id, inputs_preview } of runs) {
    if (thread_id === null || thread_id === undefined || found.has(thread_id)) continue
    const words = previewText(inputs_preview ?? '').slice(0, MOST_SHOWN)
    const path = `/threads/${encodeURIComponent(thread_id)}?project=${session_id}`
    found.set(thread_id, { id: `thread ${thread_id}`, name: thread_id, kind: 'thread', path, found: words })
  }
  return [...found.values()].slice(0, MOST_NAMED)
}

/** What has a text in its name, and threads that have it in a message; a kind that cannot be read is left out. */
export async function findNamed(text: string, signal: AbortSignal): Promise<Named[]> {
  const kinds = [projects, deployments, models, members, threads]
  const found = await Promise.all(kinds.map((find) => find(text, signal).catch(() => [])))
  return found.flatMap((named) =>
    named
      .filter((one) => one.found !== undefined || one.name.toLowerCase().includes(text))
      .slice(0, MOST_NAMED),
  )
}
