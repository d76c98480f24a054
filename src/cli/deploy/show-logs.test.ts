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
