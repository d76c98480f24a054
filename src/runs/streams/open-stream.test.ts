import { describe, expect, it } from 'vitest'
import { eventually } from '../../../test/support/eventually.ts'
import { doneWith } from '../../../test/support/runs/hosts/fake-graph-host.ts'
import { openRunWorld, staying } from '../../../test/support/runs/world.ts'
import { names, watch } from '../../../test/support/runs/streams/watched-stream.ts'
import { createLogger } from '../../base/log.ts'
import { createMetrics } from '../../base/metrics.ts'
import { createEventLog } from '../../events/create-event-log.ts'
import { createMemoryEventStore } from '../../../test/support/runs/streams/memory-event-store.ts'
import { RUN_DONE, STATE_UPDATE } from '../../events/views.ts'
import { createStreams } from './create-streams.ts'
import { systemClock } from '../../base/clock.ts'
import { testClock } from '../../../test/support/faults/test-clock.ts'

describe('a reader that is too slow', () => {
  it('gets the gap, and its stream ends although the end of the run was in the gap', async () => {
    const world = await openRunWorld()
    const { call, fake, runs } = world
    const thread_id = await world.thread()
    const thread = { ...call.tenant, thread_id }
    const store = createMemoryEventStore(testClock(), {
      events: 4,
      chars: 1 << 20,
      age_ms: 1 << 20,
      total_chars: 1e12,
    })
    const logger = createLogger({ level: 'silent' })
    const events = createEventLog({ store, logger, metrics: createMetrics() })
    const streams = createStreams({ ...world, events, clock: systemClock, logger })
    const { run_id } = await runs.create(call, thread_id, { assistant_id: 'agent', input: { n: 1 } })
    const say = (event: string) => events.append(thread, [{ event, data: '{}', run_id }], null)
    const [first = ''] = (await say('metadata')) as string[]
    const stream = await streams.joinRun(call, thread_id, run_id, {
      from: { after: first },
      modes: null,
      gone: staying(),
      cancel_on_disconnect: false,
    })
    await say('values')
    await say(RUN_DONE)
    for (let n = 0; n < 20; n++) await say(STATE_UPDATE)
    await store.trim(thread)
    const job = await fake.job(run_id)
    job.end(doneWith({ n: 3 }))
    await eventually(async () => expect((await runs.get(call, thread_id, run_id)).status).toBe('success'))
    const seen = watch(stream)
    await seen.ended
    expect(names(seen)).toEqual(['gap'])
    await events.close()
  })
})
