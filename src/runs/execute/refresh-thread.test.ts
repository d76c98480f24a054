import { expect, it } from 'vitest'
import type { EventLog } from '../../events/event-log.ts'
import type { RunStore } from '../run-store.ts'
import type { GraphHost } from './graph-host.ts'
import { refreshThread } from './refresh-thread.ts'

it('RUN-38: the state that is read again after the end of a host keeps integers beyond 2^53', async () => {
  let values: string | undefined
  const store = {
    updateThread: async (
      _tenant: unknown,
      _thread: string,
      { state }: { state: { values_json: string } },
    ) => {
      values = state.values_json
      return undefined
    },
  } as unknown as RunStore
  const body = '{"values":{"n":12345678901234567890},"created_at":"2026-01-01","next":[],"tasks":[]}'
  const host = { call: async () => ({ body }) } as unknown as GraphHost
  const run = { thread_id: 't', graph_id: 'g', kwargs: { config: {} } } as never
  const tenant = { workspace_id: 'w', deployment_id: 'd' }
  await refreshThread({ store, events: {} as EventLog }, host, tenant, run)
  expect(values).toBe('{"n":12345678901234567890}')
})
