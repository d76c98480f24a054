import { AppError } from '../../base/errors.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import { API_FLAGS, API_HELP } from '../arguments/api-flags.ts'
import { type ApiClient, connectApi } from '../server/api-client.ts'
import { misusedWords, readArguments } from '../arguments/command-arguments.ts'
import { FORMAT_FLAGS, FORMAT_HELP, wantsJson } from '../arguments/output-format.ts'
import { textTable } from '../terminal/text-table.ts'

const HELP = `Usage: weir workspaces list [options]
       weir workspaces create NAME [options]

Lists the workspaces that the key may use, or creates one. Projects, keys and members belong to workspaces.

Options:
  --id ID          of the new workspace, a UUID (default: a new one)
${FORMAT_HELP}
${API_HELP}
  -h, --help       print this`

const FLAGS = {
  ...API_FLAGS,
  id: { type: 'string' },
  ...FORMAT_FLAGS,
} as const

type Workspace = SchemaTypes['workspace']

const ACTIONS = { list: 'options only', create: 'one name (in quotes when it has several words)' }

/** `weir workspaces`: lists or creates workspaces of the server. */
export async function workspaces(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS, HELP)
  const [action, name, ...rest] = positionals
  const creates = action === 'create' && name !== undefined && name.trim() !== ''
  if ((!creates && (action !== 'list' || name !== undefined)) || rest.length > 0)
    throw misusedWords(positionals, ACTIONS, HELP)
  const asJson = wantsJson(values)
  const api = await connectApi(values)
  const answer = creates
    ? [await create(api, name.trim(), values.id)]
    : await api.json<Workspace[]>('/workspaces')
  if (asJson) console.log(JSON.stringify(creates ? answer[0] : answer, null, 2))
  else console.log(textTable(['ID', 'NAME', 'MADE'], answer.map(toRow)))
  return 0
}

/**
 * Creates a workspace. The API accepts the name of an existing workspace, but commands refer to workspaces by name, so
 * the name must be new. @throws AppError invalid_request when a workspace that the key may use has the name
 */
async function create(api: ApiClient, display_name: string, id: string | undefined): Promise<Workspace> {
  const found = (await api.json<Workspace[]>('/workspaces')).find((one) => one.display_name === display_name)
  if (found !== undefined)
    throw new AppError('invalid_request', {
      message: `There is a workspace "${display_name}" already, with id ${found.id}. Use that one, or choose another name.`,
    })
  return await api.json('/workspaces', { method: 'POST', body: { display_name, id } })
}

function toRow({ id, display_name, created_at }: Workspace): string[] {
  return [id, display_name, created_at.slice(0, 10)]
}
