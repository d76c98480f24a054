import { expect, it, vi } from 'vitest'
import { type ApiClient, Refusal } from '../server/api-client.ts'
import { showLogs } from './show-logs.ts'

const sent = (event: string, id?: string, message?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify({ id, message, timestamp: 1, level: 'INFO' })}\n\n`

it('P-44: --follow goes on after the last line when the server is gone for a while, with the same query', async () => {
  const printed = vi.spyOn(console, 'log').mockReturnValue(undefined)
  const asked: { path: string; after: string | undefined }[] = []
  const answers = [
    () => new Response(sent('open') + sent('log', '7', 'one')),
    () => {
      throw new Error('ECONNREFUSED')
    },
    () => new Response(sent('open', '7') + sent('log', '9', 'two')),
  ]
  const api = {
    json: async () => ({ resources: [{ id: 'd1' }] }),
    async open(path, { headers }) {
      asked.push({ path, after: headers?.['last-event-id'] })
      const answer = answers.shift()
      if (answer === undefined) throw new Refusal(404, 'The deployment was deleted.')
      return answer()
    },
  } as Partial<ApiClient> as ApiClient
  const flags = { since: '2026-11-20T09:00:00Z', level: 'error', limit: 5, follow: true, asJson: false }
  await expect(showLogs(api, 'bot', flags)).rejects.toThrow('deleted')
  const path =
    '/deployments/d1/logs?kind=deploy&kind=server&level=ERROR&start_time=2026-11-20T09%3A00%3A00Z&limit=5'
  expect(asked).toEqual([undefined, '7', '7', '9'].map((after) => ({ path, after })))
  expect(printed.mock.calls.map(([line]) => String(line).slice(-3))).toEqual(['one', 'two'])
  printed.mockRestore()
})

it('lines of deployed code do not control the terminal', async () => {
  const printed = vi.spyOn(console, 'log').mockReturnValue(undefined)
  const message = '\u001b[32mgreen\u001b[0m \u001b]0;title\u0007\u001b[2J\r2026-01-01 INFO forged\u202e'
  const logs = [{ id: '1', timestamp: 1, level: 'INFO', message }]
  const resources = [{ id: 'd1' }]
  const api = { json: async (path: string) => (path.includes('/logs') ? { logs } : { resources }) }
  const flags = { limit: 5, follow: false, asJson: false }
  expect(await showLogs(api as unknown as ApiClient, 'bot', flags)).toBe(0)
  const [[line] = []] = printed.mock.calls
  printed.mockRestore()
  expect(line).toContain(String.raw`green \u001b]0;title\u0007\u001b[2J\u000d2026-01-01 INFO forged\u202e`)
})
