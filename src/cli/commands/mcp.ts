import { misused, readArguments } from '../arguments/command-arguments.ts'
import { findTargets } from '../server/find-target.ts'
import { AGENT_CLIENTS, type AgentServer } from '../terminal/agent-lines.ts'

const HELP = `Usage: weir mcp [${Object.keys(AGENT_CLIENTS).join('|')}]

Prints what a coding agent needs to read the traces of the server that runs on DATA_DIR, or to call the graphs of a
deployment as tools: a command, or lines of a configuration file. Without an argument, for every client. The key stands
in the output. For traces a read-only key is enough: weir keys create "coding agent" --workspace NAME --read-only.

Options:
  --deployment NAME  call the graphs of this deployment
  --sign-in          lines without a key: the client opens a page on which you allow it (not with AUTH=off)
  --url URL          the server (default: WEIR_URL, else this machine at PORT, else the one that runs on DATA_DIR)
  --key KEY          an API key (default: WEIR_API_KEY, else the one in DATA_DIR/api-key)
  -h, --help         print this`

const FLAGS = {
  deployment: { type: 'string' },
  'sign-in': { type: 'boolean' },
  url: { type: 'string' },
  key: { type: 'string' },
} as const

/** `weir mcp`: prints the settings with which agents read traces or call graphs. */
export async function mcp(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS, HELP)
  const [client, ...others] = positionals
  const names = Object.keys(AGENT_CLIENTS)
  if (others.length > 0 || (client !== undefined && !names.includes(client)))
    throw misused(`weir mcp takes one of ${names.join(', ')}, not ${positionals.join(' ')}.`, HELP)
  const { platform } = await findTargets({ url: values.url, key: values.key })
  const server = serverOf(platform.url, values.deployment)
  const key = values['sign-in'] === true ? undefined : (platform.key ?? 'YOUR-KEY')
  const chosen = client === undefined ? names : [client]
  const texts = chosen.map((name) => {
    const { where, lines } = AGENT_CLIENTS[name]!
    const text = lines({ ...server, key })
    return client === undefined ? `${where}:\n\n${text}\n` : text
  })
  console.log(texts.join('\n').trimEnd())
  return 0
}

function serverOf(origin: string, deployment: string | undefined): Omit<AgentServer, 'key'> {
  if (deployment === undefined) return { name: 'weir', url: `${origin}/mcp` }
  return { name: deployment, url: `${origin}/deployments/${encodeURIComponent(deployment)}/mcp` }
}
