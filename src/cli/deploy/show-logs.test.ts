import { expect, it } from 'vitest'
import { type ApiCall, type ApiClient, Refusal } from '../server/api-client.ts'
import { showLogs } from './show-logs.ts'

it('--since holds for the lines that --follow waits for, also when no line matched yet (P-44)', async () => {
  const asked: unknown[] = []
  const json = async (path: string, call?: ApiCall): Promise<unknown> => {
    if (path.startsWith('/v2/deployments?')) return { resources: [{ id: 'd1' }] }
    asked.push(call?.body)
    if (asked.length > 1) throw new Refusal(404, 'The deployment was deleted.')
    return { logs: [], next_offset: '0' }
  }
  const since = '2026-11-20T09:00:00Z'
  const flags = { since, limit: 100, follow: true, asJson: false }
  await expect(showLogs({ json } as ApiClient, 'bot', flags)).rejects.toThrow('deleted')
  const [first, next] = asked as { start_time?: unknown }[]
  expect(first?.start_time).toBeDefined()
  expect(next?.start_time).toEqual(first?.start_time)
})
