import { AppError } from '../base/errors.ts'
import { parseUuid } from '../base/ids.ts'
import type { SchemaTypes } from '../schema/types.gen.ts'
import { API_FLAGS, API_HELP, type ApiClient, connectApi } from './api-client.ts'
import { assertWord, misusedWords, readArguments, ROLES } from './command-arguments.ts'
import { chooseWorkspaces, terminalQuestion } from './choose-workspaces.ts'
import { textTable } from './text-table.ts'
import { futureTime } from './time-flag.ts'
import { readWorkspaceNames, type WorkspaceNames } from './workspace-names.ts'

const HELP = `Usage: weir keys list [options]
       weir keys create DESCRIPTION [options]
       weir keys revoke ID|SHORT_KEY [options]

Service keys, or with --personal your personal access tokens, or with --user those of a member.

Options:
  --personal       personal access tokens instead of service keys
  --user EMAIL     tokens of this member, by email or id
  --role ROLE      admin, operator, user or viewer (default: user; of your own token the role of the key that asks,
                   of another member's token that member's role)
  --read-only      the key may only read
  --workspace W    name or id of a workspace that the key serves; may be repeated
  --default-workspace W
                   the workspace of requests that name none in X-Tenant-Id; without --workspace the key serves all.
                   Where there are several workspaces, one of the two is needed; on a terminal it is asked for
  --expires TIME   ISO 8601, or in how long: 12h, 30d, 1y (default: never)
  --json           as the API gives it
${API_HELP}
  -h, --help       print this`

const FLAGS = {
  ...API_FLAGS,
  personal: { type: 'boolean' },
  user: { type: 'string' },
  role: { type: 'string' },
  'read-only': { type: 'boolean' },
  workspace: { type: 'string', multiple: true },
  'default-workspace': { type: 'string' },
  expires: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

const TITLES = ['ID', 'KEY', 'DESCRIPTION', 'ROLE', 'WORKSPACES', 'MADE', 'LAST USED', 'EXPIRES']

type ApiKey = SchemaTypes['api-key']
type Flags = ReturnType<typeof readArguments<typeof FLAGS>>['values']

/** Which keys a command is about. */
interface Kind {
  path: string
  /** Undefined: not said. */
  user_id: string | undefined
  /** Workspaces that its keys can serve; null: all that the key that asks may use. */
  workspaces: readonly string[] | null
}

const ACTIONS = {
  list: 'options only',
  create: 'one description (in quotes when it has several words)',
  revoke: 'one id or short key',
}

/** `weir keys`: lists, makes or revokes API keys of the server. */
export async function keys(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS, HELP)
  const [action, what, ...rest] = positionals
  if (values.help === true) {
    console.log(HELP)
    return 0
  }
  const isKnown = action === 'list' ? what === undefined : ['create', 'revoke'].includes(action ?? '')
  if (!isKnown || rest.length > 0 || (action !== 'list' && what === undefined))
    throw misusedWords(positionals, ACTIONS, HELP)
  if (values.role !== undefined) assertWord('--role', values.role, ROLES)
  const api = await connectApi(values)
  const kind = await kindOf(api, values)
  if (what === undefined) await list(api, kind, values)
  else if (action === 'create') await create(api, kind, what, values)
  else await revoke(api, kind, what)
  return 0
}

/** @throws AppError invalid_request when there is no such member */
async function kindOf(api: ApiClient, { personal, user }: Flags): Promise<Kind> {
  if (user === undefined && personal !== true)
    return { path: '/orgs/current/service-keys', user_id: undefined, workspaces: null }
  const path = '/orgs/current/personal-access-tokens'
  if (user === undefined) return { path, user_id: undefined, workspaces: null }
  const members = await api.json<SchemaTypes['member'][]>('/orgs/current/members')
  const member = members.find(
    ({ email, user_id }) => email === user.toLowerCase() || user_id === parseUuid(user),
  )
  if (member === undefined) {
    const message = `There is no member ${user}; weir members list tells who there is, weir members add EMAIL adds one.`
    throw new AppError('invalid_request', { message })
  }
  return { path, user_id: member.user_id, workspaces: member.workspace_ids }
}

async function readKeys(api: ApiClient, { path, user_id }: Kind): Promise<ApiKey[]> {
  return await api.json(user_id === undefined ? path : `${path}?user_id=${user_id}`)
}

async function list(api: ApiClient, kind: Kind, { json }: Flags): Promise<void> {
  const found = await readKeys(api, kind)
  if (json === true) console.log(JSON.stringify(found, null, 2))
  else console.log(keysText(found, await readWorkspaceNames(api)))
}

function keysText(found: readonly ApiKey[], names: WorkspaceNames): string {
  const day = (time: string | null): string => time?.slice(0, 10) ?? 'never'
  const rows = found.map((key) => [
    key.id,
    key.short_key,
    key.description,
    key.read_only ? `${key.role}, read only` : key.role,
    names.text(key.workspaces),
    day(key.created_at),
    day(key.last_used_at),
    day(key.expires_at),
  ])
  return textTable(TITLES, rows)
}

async function create(api: ApiClient, kind: Kind, description: string, flags: Flags): Promise<void> {
  const names = await readWorkspaceNames(api)
  const expires_at = flags.expires && futureTime({ flag: '--expires', text: flags.expires }, Date.now())
  const chosen = await chooseWorkspaces({
    named: flags.workspace?.map((name) => names.idOf(name)),
    preferred: flags['default-workspace'] && names.idOf(flags['default-workspace']),
    possible: names.ids.filter((id) => kind.workspaces?.includes(id) ?? true),
    names,
    ask: terminalQuestion(),
  })
  const body = {
    description,
    role: flags.role,
    read_only: flags['read-only'],
    ...chosen,
    expires_at,
    user_id: kind.user_id,
  }
  const made = await api.json<SchemaTypes['api-key-created']>(kind.path, { method: 'POST', body })
  if (flags.json === true) console.log(JSON.stringify(made, null, 2))
  else
    console.log(`${made.key}\n\nThis is the only time that the key is shown.\n\n${keysText([made], names)}`)
}

async function revoke(api: ApiClient, kind: Kind, idOrShortKey: string): Promise<void> {
  const found = (await readKeys(api, kind)).find(({ short_key }) => short_key === idOrShortKey)
  const id = found?.id ?? parseUuid(idOrShortKey)
  if (id === undefined) {
    const message = `There is no key ${idOrShortKey} here; weir keys list tells ids and short keys, with --personal those of personal access tokens, with --user EMAIL those of a member.`
    throw new AppError('invalid_request', { message })
  }
  await api.text(`${kind.path}/${id}`, { method: 'DELETE' })
  console.log(`Revoked ${found?.short_key ?? id}. Other servers of this store refuse it within 30 seconds.`)
}
