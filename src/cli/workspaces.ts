import type { SchemaTypes } from '../schema/types.gen.ts'
import { API_FLAGS, API_HELP, connectApi } from './api-client.ts'
import { misusedWords, readArguments } from './command-arguments.ts'
import { textTable } from './text-table.ts'

const HELP = `Usage: weir workspaces list [options]
       weir workspaces create NAME [options]

Options:
  --id ID          of the new workspace, else it is made
  --json           as the API gives it
${API_HELP}
  -h, --help       print this`

const FLAGS = {
  ...API_FLAGS,
  id: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

type Workspace = SchemaTypes['workspace']

const ACTIONS = { list: 'options only', create: 'one name (in quotes when it has several words)' }

/** `weir workspaces`: lists or makes workspaces of the server. */
export async function workspaces(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS, HELP)
  const [action, name, ...rest] = positionals
  if (values.help === true) {
    console.log(HELP)
    return 0
  }
  const creates = action === 'create' && name !== undefined && name.trim() !== ''
  if ((!creates && (action !== 'list' || name !== undefined)) || rest.length > 0)
    throw misusedWords(positionals, ACTIONS, HELP)
  const api = await connectApi(values)
  const answer = creates
    ? [
        await api.json<Workspace>('/workspaces', {
          method: 'POST',
          body: { display_name: name, id: values.id },
        }),
      ]
    : await api.json<Workspace[]>('/workspaces')
  if (values.json === true) console.log(JSON.stringify(creates ? answer[0] : answer, null, 2))
  else console.log(textTable(['ID', 'NAME', 'MADE'], answer.map(toRow)))
  return 0
}

function toRow({ id, display_name, created_at }: Workspace): string[] {
  return [id, display_name, created_at.slice(0, 10)]
}
