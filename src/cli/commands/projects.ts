import { AppError } from '../../base/errors.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import { misusedWords, readArguments } from '../arguments/command-arguments.ts'
import { FORMAT_FLAGS, FORMAT_HELP, wantsJson } from '../arguments/output-format.ts'
import { API_FLAGS, API_HELP } from '../arguments/api-flags.ts'
import { type ApiClient, connectApi } from '../server/api-client.ts'
import { textTable } from '../terminal/text-table.ts'

const HELP = `Usage: weir projects list [options]
       weir projects delete NAME --yes [options]
       weir projects retention NAME DAYS [options]
       weir projects filter NAME [--scope TEXT] [--name TEXT] [--attribute KEY [--value TEXT]] [options]
       weir projects filter NAME --clear [options]

Lists projects, deletes one with all its runs, or sets for how many days after receipt its runs are kept (0: forever).
docs/using/deleting.md lists what is deleted and what is kept. "filter" adds a filter, with which OpenTelemetry spans that
have all of the named properties are not kept from now on; without one it prints the filters. See
docs/using/tracing.md.

Options:
  --yes            delete: without it the command only prints what it would delete
  --scope TEXT     filter: name of the instrumentation scope, for example next.js; * stands for any text
  --name TEXT      filter: name of the span, for example "GET /*"
  --attribute KEY  filter: name of an attribute that the span has
  --value TEXT     filter: value of that attribute
  --clear          filter: removes all filters of the project
${FORMAT_HELP}
${API_HELP}
  -h, --help       print this`

const FLAGS = {
  ...API_FLAGS,
  yes: { type: 'boolean' },
  scope: { type: 'string' },
  name: { type: 'string' },
  attribute: { type: 'string' },
  value: { type: 'string' },
  clear: { type: 'boolean' },
  ...FORMAT_FLAGS,
} as const

const ACTIONS = {
  list: 'options only',
  delete: 'one name',
  retention: 'a name and a number of days',
  filter: 'one name',
}
const PAGE = 100

type Project = SchemaTypes['session']
type SpanFilter = SchemaTypes['span-filter']
const FILTER_FLAGS = ['scope', 'name', 'attribute', 'value'] as const

/** `weir projects`: lists or deletes projects of the server, or sets their retention and filters. */
export async function projects(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS, HELP)
  const [action, name, days] = positionals
  const wanted = { list: 1, delete: 2, retention: 3, filter: 2 }[action ?? '']
  if (wanted === undefined || positionals.length !== wanted) throw misusedWords(positionals, ACTIONS, HELP)
  const asJson = wantsJson(values)
  const api = await connectApi(values)
  if (action === 'list') {
    const found = await listAll(api)
    console.log(asJson ? JSON.stringify(found, null, 2) : projectTable(found))
    return 0
  }
  const project = await find(api, name ?? '')
  const answer =
    action === 'delete'
      ? await deleteProject(api, project, values.yes === true)
      : action === 'filter'
        ? await filterSpans(api, project, values)
        : await keep(api, project, days)
  if (asJson) console.log(JSON.stringify(answer.json, null, 2))
  else console.log(answer.text)
  return 0
}

async function listAll(api: ApiClient): Promise<Project[]> {
  const all: Project[] = []
  for (;;) {
    const page = await api.json<Project[]>(`/sessions?limit=${PAGE}&offset=${all.length}`)
    all.push(...page)
    if (page.length < PAGE) return all
  }
}

function projectTable(found: readonly Project[]): string {
  const rows = found.map(({ id, name, run_count, retention_days }) => [
    id,
    name ?? '',
    String(run_count ?? '?'),
    retention_days === null ? 'forever' : `${retention_days} days`,
  ])
  return textTable(['ID', 'NAME', 'RUNS', 'KEPT'], rows)
}

/** @throws AppError not_found */
async function find(api: ApiClient, name: string): Promise<Project> {
  const [project] = await api.json<Project[]>(`/sessions?name=${encodeURIComponent(name)}`)
  if (project === undefined) throw new AppError('not_found', { message: `There is no project "${name}".` })
  return project
}

interface Answer {
  json: unknown
  text: string
}

/** @throws AppError invalid_request without `isSure` */
async function deleteProject(
  api: ApiClient,
  { id, name, run_count }: Project,
  isSure: boolean,
): Promise<Answer> {
  if (!isSure) {
    const what = `project "${name}" with ${run_count ?? 'all its'} runs`
    throw new AppError('invalid_request', { message: `This deletes the ${what}. Add --yes to do it.` })
  }
  const job = await api.json<SchemaTypes['deletion-job']>(`/sessions/${id}`, { method: 'DELETE' })
  const text = `Deleted project "${name}". Its runs are being deleted: GET /api/v1/runs/delete/${job.job_id}`
  return { json: job, text }
}

/** @throws AppError invalid_request if `days` is not a number of days */
async function keep(api: ApiClient, { id, name }: Project, days = ''): Promise<Answer> {
  if (!/^\d{1,5}$/.test(days))
    throw new AppError('invalid_request', { message: `"${days}" is not a number of days.` })
  const body = { retention_days: Number(days) }
  const json = await api.json<Project>(`/sessions/${id}`, { method: 'PATCH', body })
  const { retention_days } = json
  const kept = retention_days === null ? 'forever' : `for ${retention_days} days after receipt`
  return { json, text: `Runs of project "${name}" are kept ${kept}.` }
}

/** Adds the filter that the options describe, or clears all; without options only lists the filters. */
async function filterSpans(
  api: ApiClient,
  { id, name, span_filters: before }: Project,
  { clear, ...options }: SpanFilter & { clear?: boolean },
): Promise<Answer> {
  const given = FILTER_FLAGS.flatMap((flag) => (options[flag] === undefined ? [] : [[flag, options[flag]]]))
  const span_filters = clear ? [] : given.length > 0 ? [...before, Object.fromEntries(given)] : undefined
  const json =
    span_filters === undefined
      ? before
      : (await api.json<Project>(`/sessions/${id}`, { method: 'PATCH', body: { span_filters } })).span_filters
  const lines = json.map((filter) =>
    Object.entries(filter)
      .map(([key, value]) => `${key} ${JSON.stringify(value)}`)
      .join(', '),
  )
  const text =
    lines.length === 0
      ? `All spans of project "${name}" are kept.`
      : [`Spans of project "${name}" are not kept with:`, ...lines.map((line) => `  ${line}`)].join('\n')
  return { json, text }
}
