import { misused, readArguments } from './command-arguments.ts'
import { findTarget, type Target } from './find-target.ts'

const HELP = `Usage: eval "$(weir env)"

Prints the shell commands that point LangSmith and LangGraph clients of this shell at the server that runs on DATA_DIR:
LANGSMITH_ENDPOINT, LANGSMITH_API_KEY, LANGSMITH_TRACING, and LANGGRAPH_API_URL when graphs are hosted. WEIR_URL,
WEIR_DEPLOYMENT_URL and WEIR_API_KEY name another server and key.

Options:
  -h, --help       print this`

/** Text that no shell reads as anything but itself. */
const PLAIN = /^[\w:/.@%+,=[\]-]+$/

/** `weir env`: how clients find the server, for a POSIX shell to evaluate. */
export async function env(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, { help: { type: 'boolean', short: 'h' } }, HELP)
  if (values.help === true) {
    console.log(HELP)
    return 0
  }
  if (positionals.length > 0) throw misused(`weir env takes no words, not ${positionals.join(' ')}.`, HELP)
  const platform = await findTarget('platform', {})
  // A server without graphs is no mistake here.
  const deployment = await findTarget('deployment', {}).catch(() => undefined)
  if (platform.key === undefined)
    console.error(
      `weir env: there is no key in ${platform.keyFile}: set LANGSMITH_API_KEY to one that you have.`,
    )
  console.log(shellCommands(platform, deployment))
  return 0
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
