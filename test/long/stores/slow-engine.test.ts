import { randomUUID } from 'node:crypto'
import { expect, it, vi } from 'vitest'
import type { SchemaTypes } from '../../../src/schema/types.gen.ts'
import { LONG_MS } from '../../support/campaign.ts'
import { eventually } from '../../support/eventually.ts'
import { useOwnWeir } from '../../support/servers/own-weir.ts'
import { jsonBody } from '../../support/servers/weir-process.ts'

// Each test waits until data has waited for SLOW_MS.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

/** Milliseconds for which the engine stands still, as beside many other processes. */
const SLOW_MS = 12_000

const own = useOwnWeir()

const newRun = (thread_id: string) => {
  const id = randomUUID()
  const start_time = new Date().toISOString()
  return {
    id,
    trace_id: id,
    name: 'slow',
    run_type: 'chain',
    session_name: 'slow',
    start_time,
    extra: { metadata: { thread_id } },
  }
}

async function send(path: string, init: RequestInit): Promise<number> {
  const answer = await own.current().fetch(path, init)
  await answer.text()
  return answer.status
}

it('a write that waits for an engine that is only slow succeeds', async () => {
  const weir = own.current()
  const known = newRun('known')
  await send('/runs', jsonBody('POST', known))
  const [changed, deleted] = [randomUUID(), randomUUID()]
  for (const id of [changed, deleted])
    await send('/api/v1/feedback', jsonBody('POST', { id, run_id: known.id, key: 'k', score: 1 }))
  await weir.drained()
  const [project] = await weir.json<SchemaTypes['session-list']>('/api/v1/sessions?name=slow')
  const engine = await weir.enginePid()
  process.kill(engine, 'SIGSTOP')
  const writes: Record<string, Promise<number>> = {}
  try {
    const [shared, traced, one, several] = ['shared', 'traced', 'one', 'several'].map(newRun)
    for (const run of [shared, traced, one, several])
      expect(await send('/runs', jsonBody('POST', run))).toBe(202)
    Object.assign(writes, {
      'change feedback': send(`/api/v1/feedback/${changed}`, jsonBody('PATCH', { score: 0 })),
      'delete feedback': send(`/api/v1/feedback/${deleted}`, { method: 'DELETE' }),
      'give feedback': send('/api/v1/feedback', jsonBody('POST', { run_id: known.id, key: 'k', score: 1 })),
      'share a run': send(`/api/v1/runs/${traced!.id}/share`, jsonBody('PUT', {})),
      'share a thread': send(
        '/api/v1/v2/threads/shared/share',
        jsonBody('POST', { project_id: project!.id }),
      ),
      'delete a trace': send(`/api/v1/traces/${one!.id}`, { method: 'DELETE' }),
      'delete traces': send(
        '/api/v1/runs/delete/traces',
        jsonBody('POST', { session_id: project!.id, trace_ids: [several!.id] }),
      ),
    })
    await eventually(async () => {
      const { oldest_waiting_at } = await weir.health()
      expect(Date.now() - Date.parse(oldest_waiting_at!)).toBeGreaterThan(SLOW_MS)
    })
  } finally {
    process.kill(engine, 'SIGCONT')
  }
  const statuses = await Promise.all(
    Object.entries(writes).map(async ([what, status]) => [what, await status] as const),
  )
  expect(Object.fromEntries(statuses)).toEqual({
    'change feedback': 200,
    'delete feedback': 200,
    'give feedback': 200,
    'share a run': 200,
    'share a thread': 200,
    'delete a trace': 202,
    'delete traces': 202,
  })
})
