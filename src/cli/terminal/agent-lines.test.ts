import { expect, it } from 'vitest'
import { AGENT_CLIENTS as SHOWN } from '../../../ui/parts/agents/agent-clients.ts'
import { AGENT_CLIENTS } from './agent-lines.ts'

const URL = 'http://127.0.0.1:1984/mcp'

it('TRC-6: the interface shows the lines that weir mcp prints', () => {
  const clients = Object.values(AGENT_CLIENTS)
  expect(SHOWN.map(({ name, where }) => `${name}, ${where}`)).toEqual(clients.map(({ where }) => where))
  for (const key of [undefined, 'KEY'])
    for (const [place, { lines }] of clients.entries()) {
      const server = { name: 'my graphs', url: URL, key }
      const text = lines(server)
      expect(SHOWN[place]?.lines(server)).toBe(text)
      expect([text.includes(URL), text.includes('my-graphs'), text.includes('KEY')]).toEqual([
        true,
        true,
        key !== undefined,
      ])
    }
})

it('TRC-6: lines with and without a key', () => {
  const server = { name: 'weir', url: URL, key: 'KEY' }
  expect(AGENT_CLIENTS['claude']?.lines(server)).toBe(
    `claude mcp add --transport http weir ${URL} --header "x-api-key: KEY"`,
  )
  expect(AGENT_CLIENTS['codex']?.lines({ ...server, key: undefined })).toBe(
    `[mcp_servers.weir]\nurl = "${URL}"`,
  )
  expect(JSON.parse(AGENT_CLIENTS['vscode']?.lines(server) ?? '')).toEqual({
    servers: { weir: { type: 'http', url: URL, headers: { 'x-api-key': 'KEY' } } },
  })
})
