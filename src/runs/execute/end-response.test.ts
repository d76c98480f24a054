import { expect, it } from 'vitest'
import type { Run, Thread } from '../model.ts'
import type { RunStore } from '../run-store.ts'
import { storedOutcome } from './end-response.ts'

const TENANT = { workspace_id: 'w', deployment_id: 'd' }
const ASKED = { id: 'a'.repeat(32), value: { question: 'city?' } }

async function answer(run: Partial<Run>, thread: Partial<Thread> | undefined): Promise<unknown> {
  const store = { getThread: async () => thread as Thread } as unknown as RunStore
  const outcome = await storedOutcome(store, TENANT, { status: 'success', thread_id: 't', ...run } as Run)
  return JSON.parse(outcome?.json ?? '"active"')
}

it('RUN-17: join of a run that has ended has the interrupts for which the thread still waits', async () => {
  const interrupts = { task: [ASKED], other: [{ ...ASKED, value: 2 }] }
  const asked = { interrupted: true }
  const __interrupt__ = [ASKED, { ...ASKED, value: 2 }]
  expect(await answer(asked, { values_json: '{"log":[]}', interrupts })).toEqual({ log: [], __interrupt__ })
  for (const values_json of [null, '{}', ' { } ', 'null', '"text"', '[1]'])
    expect(await answer(asked, { values_json, interrupts })).toEqual({ __interrupt__ })
  expect(await answer(asked, { values_json: '{"log":[]}', interrupts: {} })).toEqual({ log: [] })
  expect(await answer({ interrupted: false }, { values_json: '{"log":[]}', interrupts })).toEqual({ log: [] })
  expect(await answer({ status: 'running' }, undefined)).toBe('active')
})
