import { setTimeout as delay } from 'node:timers/promises'
import type { SchemaTypes } from '../../../schema/types.gen.ts'
import { API_FLAGS, API_HELP } from '../../arguments/api-flags.ts'
import { connectApi } from '../../server/api-client.ts'
import { misused, readArguments, saidText } from '../../arguments/command-arguments.ts'
import { FORMAT_FLAGS, FORMAT_HELP, wantsJson } from '../../arguments/output-format.ts'

const HELP = `Usage: weir usage rebuild [options]

Computes the counts per hour and day again, from the counted traces. No count changes.

Options:
${FORMAT_HELP}
${API_HELP}
  -h, --help       print this`

const FLAGS = { ...API_FLAGS, ...FORMAT_FLAGS } as const
const PATH = '/orgs/current/billing/usage-rebuild'
const POLL_MS = 250
/** Maximum number of successive polls (half a minute) that servers without the rebuild may answer. */
const MAX_UNSEEN = 120

type Rebuild = SchemaTypes['usage-rebuild']

/**
 * `weir usage rebuild`: waits until the server has rebuilt its rollups; returns 1 if that failed, or its result stays
 * unknown.
 */
export async function usageRebuild(args: string[]): Promise<number> {
  const { values: options, positionals } = readArguments(args, FLAGS, HELP)
  if (positionals.length > 0)
    throw misused(`weir usage rebuild takes no arguments${saidText(positionals)}.`, HELP)
  const asJson = wantsJson(options)
  const api = await connectApi(options)
  const first = await api.json<Rebuild>(PATH, { method: 'POST' })
  const end = await followRebuild(first, () => api.json<Rebuild>(PATH))
  const isDone = end?.status === 'done'
  if (asJson) console.log(JSON.stringify(end ?? first, null, 2))
  if (!isDone) console.error(endText(first, end))
  else if (!asJson) console.log(endText(first, end))
  return isDone ? 0 : 1
}

/**
 * Polls until the rebuild that began as `first` has ended; undefined if no server reports it any more. Behind a load
 * balancer, other servers answer some of the polls, with another rebuild or none.
 */
export async function followRebuild(
  first: Rebuild,
  poll: () => Promise<Rebuild>,
  wait: (ms: number) => Promise<unknown> = delay,
): Promise<Rebuild | undefined> {
  let known = first
  for (let unseen = 0; known.status === 'running'; ) {
    if (unseen === MAX_UNSEEN) return undefined
    await wait(POLL_MS)
    const answer = await poll()
    const isOurs = answer.started_at === first.started_at
    if (isOurs) known = answer
    unseen = isOurs ? 0 : unseen + 1
  }
  return known
}

function endText(first: Rebuild, end: Rebuild | undefined): string {
  if (end?.status === 'done') return 'The rollups are rebuilt.'
  if (end !== undefined) return `It failed: ${end.error ?? 'the server does not say why'}`
  return `The rebuild began at ${first.started_at}, but it could not be followed: the servers that answer do not know of
it. It may still run on another one, or its server was restarted. Asking again is safe; no count changes.`
}
