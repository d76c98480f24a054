import { misused, readArguments } from '../arguments/command-arguments.ts'
import { findTargets } from '../server/find-target.ts'

const HELP = `Usage: weir mcp [claude|cursor|codex]

Prints what a coding agent needs to read the traces of the server that runs on DATA_DIR: a command, or lines of a
configuration file. Without an argument, for all of them. The key stands in the output; a read-only key is enough:
weir keys create "coding agent" --workspace NAME --read-only.

Options:
  --url URL        the server (default: WEIR_URL, else this machine at PORT, else the one that runs on DATA_DIR)
  --key KEY        an API key (default: WEIR_API_KEY, else the one in DATA_DIR/api-key)
  -h, --help       print this`

const FLAGS = {
  url: { type: 'string' },
  key: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

/** What to paste for each client, by its name: where, and the lines. */
const CLIENTS: Readonly<Record<string, (url: string, key: string) => [where: string, lines: string]>> = {
  claude: (url, key) => [
    'Claude Code, in a shell',
    `claude mcp add --transport http weir ${url} --header "x-api-key: ${key}"`,
  ],
  cursor: (url, key) => [
    'Cursor, ~/.cursor/mcp.json',
    JSON.stringify({ mcpServers: { weir: { url, headers: { 'x-api-key': key } } } }, null, 2),
  ],
  codex: (url, key) => [
    'Codex, ~/.codex/config.toml',
    `[mcp_servers.weir]\nurl = "${url}"\nhttp_headers = { "x-api-key" = "${key}" }`,
  ],
}

/** `weir mcp`: prints the settings with which coding agents read traces. */
export async function mcp(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS, HELP)
  if (values.help === true) {
    console.log(HELP)
    return 0
  }
  const [client, ...others] = positionals
  const names = Object.keys(CLIENTS)
  if (others.length > 0 || (client !== undefined && !names.includes(client)))
    throw misused(`weir mcp takes one of ${names.join(', ')}, not ${positionals.join(' ')}.`, HELP)
  const { platform } = await findTargets({ url: values.url, key: values.key })
  const chosen = client === undefined ? names : [client]
  const texts = chosen.map((name) => {
    const [where, lines] = CLIENTS[name]!(`${platform.url}/mcp`, platform.key ?? 'YOUR-KEY')
    return client === undefined ? `${where}:\n\n${lines}\n` : lines
  })
  console.log(texts.join('\n').trimEnd())
  return 0
}
