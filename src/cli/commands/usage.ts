import { AppError } from '../../base/errors.ts'
import type { GranularUsage, UsageDetails } from '../../schema/types.gen.ts'
import { parseTime } from '../../trace/derive/time.ts'
import { API_FLAGS, API_HELP } from '../arguments/api-flags.ts'
import { type ApiClient, connectApi } from '../server/api-client.ts'
import { assertWord, misused, readArguments } from '../arguments/command-arguments.ts'
import { FORMAT_FLAGS, formatOf } from '../arguments/output-format.ts'
import { pastTime } from '../arguments/time-flag.ts'
import { usageLimits } from './usage/limits.ts'
import { usageRebuild } from './usage/rebuild.ts'
import { usageText } from '../terminal/usage-text.ts'
import { readWorkspaceNames } from '../server/workspace-names.ts'

const HELP = `Usage: weir usage [options]
       weir usage limits
       weir usage rebuild

How many traces were sent, how many tokens and what they cost, or how many runs of deployments and nodes were executed,
per time bucket and group. Buckets are hours, days, weeks, 30 or 365 days, by the length of the range.

Options:
  --from TIME      ISO 8601, UTC where it names no time zone, or how long ago: 12h, 7d, 4w, 1y (default: 7d)
  --to TIME        the same, not included (default: now)
  --group-by WORD  workspace, project, user, api_key, or model (which implies --details) (default: workspace)
  --workspace W    name or id of a workspace to count; may be repeated (default: all that the key may use; deleted
                   ones only when they are named, by id)
  --kind WORD      traces, or deployments: their runs and nodes, where project means deployment (default: traces)
  --details        tokens and costs instead of traces
  --format WORD    table, json or csv; the last two as the API gives them (default: table)
  --color WORD     auto, always or never; auto: on a terminal, unless NO_COLOR is set (default: auto)
${API_HELP}
  -h, --help       print this

Exit code: 0, or 2 when there is no answer.`

const FLAGS = {
  ...API_FLAGS,
  from: { type: 'string', default: '7d' },
  to: { type: 'string', default: 'now' },
  'group-by': { type: 'string', default: 'workspace' },
  workspace: { type: 'string', multiple: true, default: [] as string[] },
  kind: { type: 'string', default: 'traces' },
  details: { type: 'boolean' },
  ...FORMAT_FLAGS,
  color: { type: 'string', default: 'auto' },
} as const

const FORMATS = ['table', 'json', 'csv'] as const
const KINDS = ['traces', 'deployments']
const COLORS = ['auto', 'always', 'never']
const GROUPS = ['workspace', 'project', 'user', 'api_key', 'model']
const DEFAULT_WIDTH = 100

type Options = ReturnType<typeof readArguments<typeof FLAGS>>['values']

/** `weir usage`: prints a usage report of the server. */
export async function usage(args: string[]): Promise<number> {
  if (args[0] === 'rebuild') return usageRebuild(args.slice(1))
  if (args[0] === 'limits') return usageLimits(args.slice(1))
  const { values: options, positionals } = readArguments(args, FLAGS, HELP)
  if (positionals.length > 0)
    throw misused(`"${positionals.join(' ')}" is not an action; there are limits and rebuild.`, HELP)
  const format = formatOf(options, FORMATS)
  assertWord('--color', options.color, COLORS)
  assertWord('--group-by', options['group-by'], GROUPS)
  assertWord('--kind', options.kind, KINDS)
  const details = options.details === true || options['group-by'] === 'model'
  const isOfDeployments = options.kind === 'deployments'
  if (isOfDeployments && details)
    throw misused('--kind deployments has no tokens and costs: omit --details and --group-by model.', HELP)
  const api = await connectApi(options)
  const path = `/orgs/current/billing/${details ? 'usage-details' : 'granular-usage'}`
  const query = await queryOf(api, options)
  if (isOfDeployments) query.set('kind', 'langsmith_deployments')
  if (format === 'csv') {
    process.stdout.write(await api.text(`${path}/export?${String(query)}`))
    return 0
  }
  const report = await api.json<GranularUsage | UsageDetails>(`${path}?${String(query)}`)
  const colors = options.color === 'auto' ? stdoutHasColors() : options.color === 'always'
  const width = process.stdout.columns ?? DEFAULT_WIDTH
  const text =
    format === 'json'
      ? JSON.stringify(report, null, 2)
      : usageText(report, { colors, width, group_by: options['group-by'] })
  console.log(text)
  return 0
}

async function queryOf(api: ApiClient, options: Options): Promise<URLSearchParams> {
  const now = Date.now()
  const start_time = pastTime({ flag: '--from', text: options.from }, now)
  const end_time = pastTime({ flag: '--to', text: options.to }, now)
  const [from, to] = [start_time, end_time].map(parseTime)
  if (from !== undefined && to !== undefined && from >= to)
    throw new AppError('invalid_request', {
      message: `--from must be before --to. --from is ${start_time}, --to is ${end_time}.`,
    })
  const query = new URLSearchParams({
    start_time,
    end_time,
    group_by: options['group-by'],
  })
  const names = await readWorkspaceNames(api)
  const named = options.workspace.map((name) => names.idOf(name))
  for (const id of named.length > 0 ? named : names.ids) query.append('workspace_ids', id)
  return query
}

/** False if standard output is not a terminal, or if NO_COLOR or TERM disable colours. */
function stdoutHasColors(): boolean {
  return process.stdout.isTTY && process.stdout.hasColors()
}
