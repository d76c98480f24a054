import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../../base/errors.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import { pastTime } from '../arguments/time-flag.ts'
import { type ApiClient, Refusal } from '../server/api-client.ts'
import { findDeployment, listRevisions } from './connection.ts'

/** Which lines, and how they are printed. */
export interface LogFlags {
  type?: string | undefined
  revision?: string | undefined
  level?: string | undefined
  query?: string | undefined
  since?: string | undefined
  limit: number
  follow: boolean
  asJson: boolean
}

type LogPage = SchemaTypes['deployment-log-page']
type Line = LogPage['logs'][number]

const TYPES = ['deploy', 'build', 'server'] as const
const LOOK_MS = 1_000
const PAGE = 1_000

/** `weir deploy logs`: the last lines, then with --follow those that come, until it is stopped. */
export async function showLogs(api: ApiClient, word: string, flags: LogFlags): Promise<number> {
  const type = TYPES.find((known) => known === (flags.type ?? 'deploy'))
  if (type === undefined)
    throw new AppError('invalid_request', { message: `--type is one of ${TYPES.join(', ')}.` })
  const { id } = await findDeployment(api, word)
  const path = await pathOf(api, id, type, flags)
  const read = (body: object): Promise<LogPage> => api.json<LogPage>(path, { method: 'POST', body })
  const filter = {
    ...(flags.level !== undefined && { level: flags.level }),
    ...(flags.query !== undefined && { query: flags.query }),
    ...(type === 'server' && { kinds: [type] }),
  }
  const start =
    flags.since === undefined
      ? {}
      : { start_time: pastTime({ flag: '--since', text: flags.since }, Date.now()) }
  const print = (lines: readonly Line[]): void => {
    for (const line of lines) console.log(flags.asJson ? JSON.stringify(line) : textOf(line))
  }
  const { logs } = await read({ ...filter, ...start, order: 'desc', limit: flags.limit })
  print(logs.toReversed())
  if (!flags.follow) return 0
  // The cursor is the time of the last line: it is valid on a server that was started again too.
  let offset = logs[0]?.id ?? '0'
  for (;;) {
    await delay(LOOK_MS)
    const page = await read({ ...filter, ...start, order: 'asc', limit: PAGE, offset }).catch(
      (error: unknown) => {
        if (error instanceof Refusal && error.answered < 500) throw error
        return undefined
      },
    )
    if (page === undefined) continue
    print(page.logs)
    offset = page.next_offset
  }
}

async function pathOf(
  api: ApiClient,
  id: string,
  type: (typeof TYPES)[number],
  { revision }: Pick<LogFlags, 'revision'>,
): Promise<string> {
  if (type !== 'build' && revision === undefined) return `/v1/projects/${id}/deploy_logs`
  const found = await listRevisions(api, id)
  const wanted =
    revision === undefined ? found[0] : found.find(({ weir }) => String(weir.number) === revision)
  if (wanted === undefined) throw new Refusal(404, `There is no revision ${revision ?? ''}`.trim())
  return `/v1/projects/${id}/revisions/${wanted.id}/${type === 'build' ? 'build' : 'deploy'}_logs`
}

function textOf({ timestamp, level, message }: Line): string {
  return `${new Date(timestamp).toISOString()} ${level.padEnd(8)} ${message}`
}
