import { AppError } from '../../../base/errors.ts'
import type { SchemaTypes } from '../../../schema/types.gen.ts'
import { misusedWords, readArguments, uuidArgument } from '../../arguments/command-arguments.ts'
import { FORMAT_FLAGS, FORMAT_HELP, wantsJson } from '../../arguments/output-format.ts'
import { API_FLAGS, API_HELP } from '../../arguments/api-flags.ts'
import { type ApiClient, connectApi } from '../../server/api-client.ts'
import { readWorkspaceNames } from '../../server/workspace-names.ts'
import { textTable } from '../../terminal/text-table.ts'

const HELP = `Usage: weir usage limits [list]
       weir usage limits set TRACES [--workspace W | --api-key ID] [--soft]
       weir usage limits remove ID

Maximum numbers of traces in a calendar month (UTC), of a workspace or of an API key. Further traces are refused with 429
until the month ends.

Options:
  --workspace W    name or id of the workspace (default: the one of the key)
  --api-key ID     the key, by its id of weir keys list
  --soft           only warn, in the header Weir-Usage-Warning and in the log
${FORMAT_HELP}
${API_HELP}
  -h, --help       print this`

const FLAGS = {
  ...API_FLAGS,
  ...FORMAT_FLAGS,
  workspace: { type: 'string' },
  'api-key': { type: 'string' },
  soft: { type: 'boolean' },
} as const

const ACTIONS = { list: 'options only', set: 'one number of traces', remove: 'the id of one limit' }

type Limit = SchemaTypes['usage-limit']
type Options = ReturnType<typeof readArguments<typeof FLAGS>>['values']

/** `weir usage limits`: shows, sets and removes monthly limits. */
export async function usageLimits(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS, HELP)
  const [action = 'list', subject] = positionals
  const wanted = { list: 0, set: 1, remove: 1 }[action]
  if (wanted === undefined || positionals.length > wanted + 1 || (wanted === 1 && subject === undefined))
    throw misusedWords(positionals, ACTIONS, HELP)
  const asJson = wantsJson(values)
  const change = action === 'set' ? readLimit(subject ?? '', values) : undefined
  const removed = action === 'remove' ? uuidArgument(subject ?? '', 'limit', 'weir usage limits') : undefined
  const api = await connectApi(values)
  if (removed !== undefined) await api.text(`/usage-limits/${removed}`, { method: 'DELETE' })
  if (change !== undefined) await setLimit(api, change, values.workspace)
  const limits = await listAll(api)
  if (asJson) console.log(JSON.stringify(limits, null, 2))
  else console.log(limits.length === 0 ? 'There are no limits.' : await tableOf(api, limits))
  return 0
}

interface LimitChange {
  limit_value: number
  mode: Limit['mode']
  api_key_id: string | undefined
}

/** @throws AppError invalid_request */
function readLimit(text: string, { workspace, 'api-key': key, soft }: Options): LimitChange {
  const limit_value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(limit_value))
    throw new AppError('invalid_request', { message: `"${text}" is not a number of traces.` })
  if (workspace !== undefined && key !== undefined)
    throw new AppError('invalid_request', { message: 'Name --workspace or --api-key, not both.' })
  return {
    limit_value,
    mode: soft === true ? 'soft' : 'hard',
    api_key_id: key === undefined ? undefined : uuidArgument(key, 'key', 'weir keys list'),
  }
}

async function setLimit(api: ApiClient, change: LimitChange, workspace: string | undefined): Promise<void> {
  const workspace_id = workspace === undefined ? undefined : (await readWorkspaceNames(api)).idOf(workspace)
  await api.text('/usage-limits', { method: 'PUT', body: { ...change, workspace_id } })
}

async function listAll(api: ApiClient): Promise<Limit[]> {
  const all: Limit[] = []
  for (;;) {
    const page = await api.json<Limit[]>(`/usage-limits?offset=${all.length}`)
    all.push(...page)
    if (page.length === 0) return all
  }
}

async function tableOf(api: ApiClient, limits: readonly Limit[]): Promise<string> {
  const names = await readWorkspaceNames(api)
  const rows = limits.map(({ id, workspace_id, api_key_id, limit_value, mode }) => [
    id,
    workspace_id === null ? `key ${api_key_id ?? ''}` : names.text([workspace_id]),
    String(limit_value),
    mode,
  ])
  return textTable(['ID', 'OF', 'TRACES A MONTH', 'MODE'], rows)
}
