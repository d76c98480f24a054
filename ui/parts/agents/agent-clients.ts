/** A server of MCP for a client. */
export interface AgentServer {
  /** What the client calls it. */
  name: string
  url: string
  /** Undefined: the client signs in. */
  key: string | undefined
}

interface AgentClient {
  name: string
  /** Where the lines belong. */
  where: string
  lines(server: AgentServer): string
}

/** What to paste for each client. `weir mcp` prints the same lines. */
export const AGENT_CLIENTS: readonly AgentClient[] = [
  {
    name: 'Claude Code',
    where: 'in a shell',
    lines: ({ name, url, key }) =>
      `claude mcp add --transport http ${plain(name)} ${url}${key === undefined ? '' : ` --header "x-api-key: ${key}"`}`,
  },
  {
    name: 'Cursor',
    where: '~/.cursor/mcp.json',
    lines: ({ name, url, key }) => json({ mcpServers: { [plain(name)]: { url, ...headersOf(key) } } }),
  },
  {
    name: 'VS Code',
    where: '.vscode/mcp.json',
    lines: ({ name, url, key }) =>
      json({ servers: { [plain(name)]: { type: 'http', url, ...headersOf(key) } } }),
  },
  {
    name: 'Codex',
    where: '~/.codex/config.toml',
    lines: ({ name, url, key }) =>
      `[mcp_servers.${plain(name)}]\nurl = "${url}"${key === undefined ? '' : `\nhttp_headers = { "x-api-key" = "${key}" }`}`,
  },
]

/** Names of servers are words in every client. */
function plain(name: string): string {
  return name.replaceAll(/[^\w-]+/g, '-')
}

function headersOf(key: string | undefined): object {
  return key === undefined ? {} : { headers: { 'x-api-key': key } }
}

function json(value: object): string {
  return JSON.stringify(value, null, 2)
}
