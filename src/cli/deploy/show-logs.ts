import { printable, uncoloured } from '../terminal/printable.ts'
import { AppError } from '../../base/errors.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import { pastTime } from '../arguments/time-flag.ts'
import { type ApiClient, Refusal } from '../server/api-client.ts'
import { followEvents } from '../server/follow-events.ts'
import { findDeployment, listRevisions } from './connection.ts'

/** Flags that select lines, and the form in which they are printed. */
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
const KINDS = { deploy: ['deploy', 'server'], build: ['build'], server: ['server'] } as const

/** `weir deploy logs`: prints the last lines, and with --follow new ones until the command is stopped. */
export async function showLogs(api: ApiClient, word: string, flags: LogFlags): Promise<number> {
  const type = TYPES.find((known) => known === (flags.type ?? 'deploy'))
  if (type === undefined)
    throw new AppError('invalid_request', { message: `--type is one of ${TYPES.join(', ')}.` })
  const { id } = await findDeployment(api, word)
  const revision_id = await revisionOf(api, id, type, flags)
  const { since, query: text, limit } = flags
  const level = flags.level?.toUpperCase()
  const start = since === undefined ? undefined : pastTime({ flag: '--since', text: since }, Date.now())
  const wanted = Object.entries({ level, query: text, start_time: start, revision_id, limit })
  const query = new URLSearchParams([
    ...KINDS[type].map((kind): [string, string] => ['kind', kind]),
    ...wanted.flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  ])
  const path = `/deployments/${id}/logs?${String(query)}`
  const print = (line: Line): void => console.log(flags.asJson ? JSON.stringify(line) : textOf(line))
  if (!flags.follow) {
    const { logs } = await api.json<LogPage>(`${path}&order=desc`)
    for (const line of logs.toReversed()) print(line)
    return 0
  }
  // The id of an event is the time of its line, so it stays valid after a restart of the server.
  await followEvents(api, path, {
    from: undefined,
    tries: Infinity,
    isOver: () => false,
    print: ({ event, data }) => event === 'log' && print(JSON.parse(data) as Line),
  })
  return 0
}

/**
 * Finds the revision whose lines are requested; for logs of builds, the newest revision. @throws Refusal when there is
 * none
 */
async function revisionOf(
  api: ApiClient,
  id: string,
  type: (typeof TYPES)[number],
  { revision }: Pick<LogFlags, 'revision'>,
): Promise<string | undefined> {
  if (type !== 'build' && revision === undefined) return undefined
  const found = await listRevisions(api, id)
  const wanted =
    revision === undefined ? found[0] : found.find(({ weir }) => String(weir.number) === revision)
  if (wanted === undefined) throw new Refusal(404, `There is no revision ${revision ?? ''}`.trim())
  return wanted.id
}

function textOf({ timestamp, level, message }: Line): string {
  return `${new Date(timestamp).toISOString()} ${level.padEnd(8)} ${printable(uncoloured(message))}`
}
