import { connectApi, Refusal } from './api-client.ts'
import { misused, readArguments } from './command-arguments.ts'
import { findTarget, type Target } from './find-target.ts'

const HELP = `Usage: eval "$(weir env)"

Prints the shell commands that point LangSmith and LangGraph clients of this shell at the server that runs on DATA_DIR:
LANGSMITH_ENDPOINT, LANGSMITH_API_KEY, LANGSMITH_TRACING, and LANGGRAPH_API_URL when graphs are hosted. WEIR_URL,
WEIR_DEPLOYMENT_URL and WEIR_API_KEY name another server and key.

Options:
  --key KEY        an API key (default: WEIR_API_KEY, else the one in DATA_DIR/api-key)
  -h, --help       print this`

const FLAGS = { key: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const

/** Text that no shell reads as anything but itself. */
const PLAIN = /^[\w:/.@%+,=[\]-]+$/

/** `weir env`: how clients find the server, for a POSIX shell to evaluate. */
export async function env(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS, HELP)
  if (values.help === true) {
    console.log(HELP)
    return 0
  }
  if (positionals.length > 0) throw misused(`weir env takes no words, not ${positionals.join(' ')}.`, HELP)
  const { key } = values
  const platform = await findTarget('platform', { key })
  await assertAccepted(key)
  // A server may host no graphs.
  const deployment = await findTarget('deployment', { key }).catch(() => undefined)
  console.log(shellCommands(platform, deployment))
  return 0
}

/** Tries the key now, rather than in the application that gets it. @throws AppError when no server answers, or not to the key */
async function assertAccepted(key: string | undefined): Promise<void> {
  const api = await connectApi({ key })
  await api.text('/settings').catch((error: unknown) => {
    if (!(error instanceof Refusal) || error.answered === 401) throw error
  })
}

/** One `export` a line. */
export function shellCommands(platform: Target, deployment: Target | undefined): string {
  const variables: [name: string, value: string | undefined][] = [
    ['LANGSMITH_TRACING', 'true'],
    ['LANGSMITH_ENDPOINT', platform.url],
    ['LANGSMITH_API_KEY', platform.key],
    ['LANGGRAPH_API_URL', deployment?.url],
  ]
  return variables
    .flatMap(([name, value]) => (value === undefined ? [] : [`export ${name}=${quoted(value)}`]))
    .join('\n')
}

function quoted(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
