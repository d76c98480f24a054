/** A server of MCP for a client. */
export interface AgentServer {
  /** What the client calls it. */
  name: string
  url: string
  /** Undefined: the client signs in (OAuth). */
  key: string | undefined
}

/** What to paste for each client, and where. The web interface shows the same lines (ui/parts/agents). */
export const AGENT_CLIENTS: Readonly<Record<string, { where: string; lines(server: AgentServer): string }>> =
  {
    claude: {
      where: 'Claude Code, in a shell',
      lines: ({ name, url, key }) =>
        `claude mcp add --transport http ${plain(name)} ${url}${key === undefined ? '' : ` --header "x-api-key: ${key}"`}`,
    },
    cursor: {
      where: 'Cursor, ~/.cursor/mcp.json',
      lines: ({ name, url, key }) => json({ mcpServers: { [plain(name)]: { url, ...headersOf(key) } } }),
    },
    vscode: {
      where: 'VS Code, .vscode/mcp.json',
      lines: ({ name, url, key }) =>
        json({ servers: { [plain(name)]: { type: 'http', url, ...headersOf(key) } } }),
    },
    codex: {
      where: 'Codex, ~/.codex/config.toml',
      lines: ({ name, url, key }) =>
        `[mcp_servers.${plain(name)}]\nurl = "${url}"${key === undefined ? '' : `\nhttp_headers = { "x-api-key" = "${key}" }`}`,
    },
  }

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
