import { AppError } from '../base/errors.ts'
import type { SchemaTypes } from '../schema/types.gen.ts'
import { API_FLAGS, API_HELP, connectApi } from './api-client.ts'
import { assertWord, misusedWords, readArguments, ROLES } from './command-arguments.ts'
import { textTable } from './text-table.ts'
import { readWorkspaceNames, type WorkspaceNames } from './workspace-names.ts'

const HELP = `Usage: weir members list [options]
       weir members add EMAIL [options]

A new member needs a token: weir keys create DESCRIPTION --user EMAIL

Options:
  --role ROLE      admin, operator, user or viewer (default: user)
  --name NAME      the member's full name
  --workspace W    name or id of a workspace that the member may use; may be repeated (default: all)
  --json           as the API gives it
${API_HELP}
  -h, --help       print this`

const FLAGS = {
  ...API_FLAGS,
  role: { type: 'string', default: 'user' },
  name: { type: 'string' },
  workspace: { type: 'string', multiple: true },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** As the API wants it. */
const ADDRESS = /^[^\s@]+@[^\s@]+$/
const PATH = '/orgs/current/members'

type Member = SchemaTypes['member']

const ACTIONS = { list: 'options only', add: 'one email address' }

/** `weir members`: lists the members of the server's organization, or adds one. */
export async function members(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS, HELP)
  const [action, email, ...rest] = positionals
  if (values.help === true) {
    console.log(HELP)
    return 0
  }
  const adds = action === 'add' && email !== undefined
  if ((!adds && (action !== 'list' || email !== undefined)) || rest.length > 0)
    throw misusedWords(positionals, ACTIONS, HELP)
  if (adds && !ADDRESS.test(email))
    throw new AppError('invalid_request', {
      message: `"${email}" is no email address such as ada@example.com.`,
    })
  assertWord('--role', values.role, ROLES)
  const api = await connectApi(values)
  const names = await readWorkspaceNames(api)
  const workspace_ids = values.workspace?.map((name) => names.idOf(name))
  const body = { email, full_name: values.name, role: values.role, workspace_ids }
  const answer = adds
    ? [await api.json<Member>(PATH, { method: 'POST', body })]
    : await api.json<Member[]>(PATH)
  if (values.json === true) console.log(JSON.stringify(adds ? answer[0] : answer, null, 2))
  else console.log(membersText(answer, names))
  return 0
}

function membersText(answer: readonly Member[], names: WorkspaceNames): string {
  const rows = answer.map(({ user_id, email, full_name, role, workspace_ids }) => [
    user_id,
    email,
    full_name ?? '',
    role,
    names.text(workspace_ids),
  ])
  return textTable(['ID', 'EMAIL', 'NAME', 'ROLE', 'WORKSPACES'], rows)
}
