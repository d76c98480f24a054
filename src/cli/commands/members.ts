import { AppError } from '../../base/errors.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import { API_FLAGS, API_HELP } from '../arguments/api-flags.ts'
import { connectApi } from '../server/api-client.ts'
import { ROLES } from '../../identity/permissions.ts'
import { assertWord, misused, misusedWords, readArguments } from '../arguments/command-arguments.ts'
import { FORMAT_FLAGS, FORMAT_HELP, wantsJson } from '../arguments/output-format.ts'
import { textTable } from '../terminal/text-table.ts'
import { readWorkspaceNames, type WorkspaceNames } from '../server/workspace-names.ts'

const HELP = `Usage: weir members list [options]
       weir members add EMAIL [options]

A new member needs a token: weir keys create DESCRIPTION --user EMAIL

Options:
  --role ROLE      admin, operator, user or viewer; add: of the new member (default: user), list: only members who have it
  --name NAME      add: the member's full name
  --workspace W    name or id of a workspace; may be repeated. add: those that the member may use (default: all),
                   list: only members who may use one of them
${FORMAT_HELP}
${API_HELP}
  -h, --help       print this`

const FLAGS = {
  ...API_FLAGS,
  role: { type: 'string' },
  name: { type: 'string' },
  workspace: { type: 'string', multiple: true },
  ...FORMAT_FLAGS,
} as const

/** The API's pattern of an email address. */
const ADDRESS = /^[^\s@]+@[^\s@]+$/
const PATH = '/orgs/current/members'

type Member = SchemaTypes['member']

const ACTIONS = { list: 'options only', add: 'one email address' }

/** `weir members`: lists the members of the server's organization, or adds one. */
export async function members(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS, HELP)
  const [action, email, ...rest] = positionals
  const adds = action === 'add' && email !== undefined
  if ((!adds && (action !== 'list' || email !== undefined)) || rest.length > 0)
    throw misusedWords(positionals, ACTIONS, HELP)
  if (adds && !ADDRESS.test(email))
    throw new AppError('invalid_request', {
      message: `"${email}" is not an email address such as ada@example.com.`,
    })
  if (values.role !== undefined) assertWord('--role', values.role, ROLES)
  if (!adds && values.name !== undefined) throw misused('list takes no --name.', HELP)
  const asJson = wantsJson(values)
  const api = await connectApi(values)
  const names = await readWorkspaceNames(api)
  const workspace_ids = values.workspace?.map((name) => names.idOf(name))
  const body = { email, full_name: values.name, role: values.role ?? 'user', workspace_ids }
  const answer = adds
    ? [await api.json<Member>(PATH, { method: 'POST', body })]
    : (await api.json<Member[]>(PATH)).filter((member) => isAsked(member, values.role, workspace_ids))
  if (asJson) console.log(JSON.stringify(adds ? answer[0] : answer, null, 2))
  else console.log(membersText(answer, names))
  return 0
}

/** Whether a member has the role and may use one of the workspaces; undefined matches any. */
function isAsked(member: Member, role: string | undefined, workspace_ids: string[] | undefined): boolean {
  const mayUse = (id: string): boolean => member.workspace_ids === null || member.workspace_ids.includes(id)
  return (role === undefined || member.role === role) && (workspace_ids?.some(mayUse) ?? true)
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
