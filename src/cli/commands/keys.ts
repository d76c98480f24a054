import { AppError } from '../../base/errors.ts'
import { parseUuid } from '../../base/ids.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import { API_FLAGS, API_HELP } from '../arguments/api-flags.ts'
import { type ApiClient, connectApi, isGone, Refusal } from '../server/api-client.ts'
import { ROLES } from '../../identity/permissions.ts'
import { assertWord, misusedWords, readArguments } from '../arguments/command-arguments.ts'
import { chooseWorkspaces, terminalQuestion } from '../arguments/choose-workspaces.ts'
import { isLastAdminKey } from '../server/last-admin-key.ts'
import { FORMAT_FLAGS, FORMAT_HELP, wantsJson } from '../arguments/output-format.ts'
import { textTable } from '../terminal/text-table.ts'
import { futureTime } from '../arguments/time-flag.ts'
import { readWorkspaceNames, type WorkspaceNames } from '../server/workspace-names.ts'

const HELP = `Usage: weir keys list [options]
       weir keys create DESCRIPTION [options]
       weir keys revoke ID|SHORT_KEY [options]

Without --personal and --user, list and revoke are about service keys and your own personal access tokens, and create
creates a service key.

Options:
  --personal       your own personal access tokens only
  --user EMAIL     personal access tokens of this member, by email or id
  --role ROLE      admin, operator, user or viewer (default: user for a service key, for your own token the role
                   of the requesting key, for another member's token that member's role)
  --read-only      the key may only read
  --workspace W    name or id of a workspace that the key serves; may be repeated
  --default-workspace W
                   the workspace of requests that name none in X-Tenant-Id; without --workspace the key serves all.
                   Where there are several workspaces, one of the two is needed; on a terminal it is asked for
  --expires TIME   ISO 8601, or in how long: 12h, 30d, 4w, 1y (default: never)
  --force          revoke even the last admin key
${FORMAT_HELP}
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
  force: { type: 'boolean' },
  ...FORMAT_FLAGS,
} as const

const TITLES = ['ID', 'TYPE', 'KEY', 'DESCRIPTION', 'ROLE', 'WORKSPACES', 'MADE', 'LAST USED', 'EXPIRES']

type ApiKey = SchemaTypes['api-key']
type Flags = ReturnType<typeof readArguments<typeof FLAGS>>['values'] & { asJson: boolean }

/** The kind of keys that a command is about. */
interface Kind {
  path: string
  /** Undefined if not given. */
  user_id: string | undefined
  /** Workspaces that the owner's keys can serve; null: all that the caller's key may use. */
  workspaces: readonly string[] | null
}

const SERVICE: Kind = { path: '/orgs/current/service-keys', user_id: undefined, workspaces: null }
/** Keys of the requesting key's user; a service key has no user. */
const PERSONAL: Kind = { path: '/orgs/current/personal-access-tokens', user_id: undefined, workspaces: null }

const ACTIONS = {
  list: 'options only',
  create: 'one description (in quotes when it has several words)',
  revoke: 'one id or short key',
}

/** `weir keys`: lists, creates or revokes API keys of the server. */
export async function keys(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS, HELP)
  const [action, what, ...rest] = positionals
  const isKnown = action === 'list' ? what === undefined : ['create', 'revoke'].includes(action ?? '')
  if (!isKnown || rest.length > 0 || (action !== 'list' && what === undefined))
    throw misusedWords(positionals, ACTIONS, HELP)
  if (values.role !== undefined) assertWord('--role', values.role, ROLES)
  const flags = { ...values, asJson: wantsJson(values) }
  const api = await connectApi(flags)
  const named = await namedKind(api, flags)
  const kinds = named === undefined ? [SERVICE, PERSONAL] : [named]
  if (what === undefined) await list(api, kinds, flags)
  else if (action === 'create') await create(api, named ?? SERVICE, what, flags)
  else await revoke(api, kinds, what, flags)
  return 0
}

/**
 * The kind that the flags select; undefined without --personal and --user. @throws AppError invalid_request if there is
 * no such member
 */
async function namedKind(api: ApiClient, { personal, user }: Flags): Promise<Kind | undefined> {
  if (user === undefined) return personal === true ? PERSONAL : undefined
  const members = await api.json<SchemaTypes['member'][]>('/orgs/current/members')
  const member = members.find(
    ({ email, user_id }) => email === user.toLowerCase() || user_id === parseUuid(user),
  )
  if (member === undefined) {
    const message = `There is no member ${user}; weir members list shows the members, weir members add EMAIL adds one.`
    throw new AppError('invalid_request', { message })
  }
  return { path: PERSONAL.path, user_id: member.user_id, workspaces: member.workspace_ids }
}

async function readKeys(api: ApiClient, { path, user_id }: Kind): Promise<ApiKey[]> {
  return await api.json(user_id === undefined ? path : `${path}?user_id=${user_id}`)
}

/** The keys of the kinds. If there are several kinds, those that the requesting key may not see are left out. */
async function readAll(api: ApiClient, kinds: readonly Kind[]): Promise<ApiKey[]> {
  const found = await Promise.all(
    kinds.map(async (kind) =>
      readKeys(api, kind).catch((error: unknown) => {
        if (kinds.length === 1 || !isForbidden(error)) throw error
        console.error('Service keys are left out: this key may not see them.')
        return []
      }),
    ),
  )
  return found.flat()
}

function isForbidden(error: unknown): boolean {
  return error instanceof Refusal && error.answered === 403
}

async function list(api: ApiClient, kinds: readonly Kind[], { asJson }: Flags): Promise<void> {
  const found = await readAll(api, kinds)
  if (asJson) console.log(JSON.stringify(found, null, 2))
  else console.log(keysText(found, await readWorkspaceNames(api)))
}

function keysText(found: readonly ApiKey[], names: WorkspaceNames): string {
  const day = (time: string | null): string => time?.slice(0, 10) ?? 'never'
  const rows = found.map((key) => [
    key.id,
    key.user_id === null ? 'service' : 'personal',
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
  if (flags.asJson) console.log(JSON.stringify(made, null, 2))
  else
    console.log(`${made.key}\n\nThis is the only time that the key is shown.\n\n${keysText([made], names)}`)
}

async function revoke(
  api: ApiClient,
  kinds: readonly Kind[],
  idOrShortKey: string,
  { asJson, force }: Flags,
): Promise<void> {
  const found = (await readAll(api, kinds)).find(
    ({ id, short_key }) => short_key === idOrShortKey || id === parseUuid(idOrShortKey),
  )
  const id = found?.id ?? parseUuid(idOrShortKey)
  const where = found === undefined ? kinds : [found.user_id === null ? SERVICE : PERSONAL]
  const isLast = found !== undefined && (await isLastAdminKey(api, found))
  if (isLast && force !== true) throw lastKey(found)
  const isDone = id !== undefined && (await deleteKey(api, where, id))
  if (!isDone)
    throw new AppError('invalid_request', {
      message: `There is no key ${idOrShortKey} here (404); weir keys list shows ids and short keys, with --user EMAIL those of a member.`,
    })
  if (asJson) console.log(JSON.stringify(found ?? { id }, null, 2))
  else
    console.log(`Revoked ${found?.short_key ?? id}. Other servers of this store refuse it within 30 seconds.`)
  if (isLast)
    console.error('No admin key is left. Start the server again: it makes one, kept in DATA_DIR/api-key.')
}

function lastKey({ short_key }: ApiKey): AppError {
  const another = 'Make another one first (weir keys create NAME --personal)'
  const message = `${short_key} is the last admin key: without it nobody can make or revoke keys. ${another}, or revoke it with --force: the next start of the server then makes one and keeps it in DATA_DIR/api-key.`
  return new AppError('invalid_request', { message })
}

/**
 * Revokes a key; returns false if it is of none of the kinds. The id may be that of another member's token, which is
 * not listed.
 */
async function deleteKey(api: ApiClient, kinds: readonly Kind[], id: string): Promise<boolean> {
  for (const { path } of kinds) {
    try {
      await api.text(`${path}/${id}`, { method: 'DELETE' })
      return true
    } catch (error) {
      if (!isGone(error) && !(kinds.length > 1 && isForbidden(error))) throw error
    }
  }
  return false
}
