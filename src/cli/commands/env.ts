import { AppError } from '../../base/errors.ts'
import { connectApi, Refusal } from '../server/api-client.ts'
import { misused, readArguments } from '../arguments/command-arguments.ts'
import { findTargets, type Target, type TargetFlags } from '../server/find-target.ts'

const HELP = `Usage: eval "$(weir env)"

Prints the shell commands that point LangSmith and LangGraph clients of this shell at the server that runs on DATA_DIR:
LANGSMITH_ENDPOINT, LANGSMITH_API_KEY, LANGSMITH_TRACING, and LANGGRAPH_API_URL when graphs are hosted. For a server
on another machine, WEIR_DEPLOYMENT_URL is the address of its graphs.

Options:
  --url URL        the server (default: WEIR_URL, else this machine at PORT, else the one that runs on DATA_DIR)
  --key KEY        an API key (default: WEIR_API_KEY, else the one in DATA_DIR/api-key)
  -h, --help       print this`

const FLAGS = {
  url: { type: 'string' },
  key: { type: 'string' },
} as const

/** Text that needs no quoting in a POSIX shell. */
const PLAIN = /^[\w:/.@%+,=[\]-]+$/

/** `weir env`: prints environment variables of clients for `eval` in a POSIX shell. */
export async function env(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS, HELP)
  if (positionals.length > 0)
    throw misused(`weir env takes no arguments, not ${positionals.join(' ')}.`, HELP)
  const { url, key } = values
  const { platform, deployment } = await findTargets({ url, key })
  await assertAccepted(platform.url, { url, key })
  console.log(shellCommands(platform, deployment))
  return 0
}

/** Checks that a Weir server answers and accepts the key. @throws AppError otherwise */
async function assertAccepted(url: string, flags: TargetFlags): Promise<void> {
  const api = await connectApi(flags)
  await api.text('/settings').catch((error: unknown) => {
    if (!(error instanceof Refusal) || error.answered === 401) throw error
    if (error.answered !== 404) return
    const message = `What listens at ${url} is not Weir: it answers 404 to GET /settings. Name the address that the server printed when it started.`
    throw new AppError('invalid_request', { message })
  })
}

/** One `export` per line. */
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
