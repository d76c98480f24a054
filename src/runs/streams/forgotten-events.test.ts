import { expect, it, onTestFinished } from 'vitest'
import { doneWith, type PlayedJob } from '../../../test/support/runs/hosts/fake-graph-host.ts'
import { openRunState, openRunWorld, staying } from '../../../test/support/runs/world.ts'
import { names, watch } from '../../../test/support/runs/streams/watched-stream.ts'
import { systemClock } from '../../base/clock.ts'
import { newUuid } from '../../base/ids.ts'
import { createLogger } from '../../base/log.ts'
import { createSqlEventStore } from '../../storage/sql/events/event-store.ts'
import { openRunDatabase } from '../../storage/sql/driver/open-run-database.ts'
import { createStreams } from './create-streams.ts'
import { testClock } from '../../../test/support/faults/test-clock.ts'

const BOUNDS = { events: 0, chars: 0, age_ms: 0, total_chars: 0 }

function playThree(job: PlayedJob): void {
  job.items(['metadata', { run_id: job.job.run.run_id, attempt: 1 }], ['values', 1])
  job.end(doneWith({ n: 3 }))
}

/** Runs in a separate database, and a function that deletes the events of a thread as the trimmer does. */
async function openForgetfulWorld() {
  const database = await openRunDatabase({ url: undefined, file: ':memory:' })
  const state = openRunState(database)
  onTestFinished(async () => {
    await state.close()
    await database.close()
  })
  const store = createSqlEventStore({ database, clock: systemClock, bounds: BOUNDS })
  return { ...(await openRunWorld({ state })), forget: store.trim }
}

it.each([
  ['with an id of the server', {}],
  ['with an id of the client', { run_id: newUuid() }],
])('the stream of an ended run %s ends when all its events were deleted', async (_named, chosen) => {
  const world = await openForgetfulWorld()
  const { streams, call, fake, thread, events } = world
  fake.play(playThree)
  const thread_id = await thread()
  const request = { assistant_id: 'agent', input: { n: 1 }, ...chosen }
  const { run, stream } = await streams.create(call, thread_id, request, staying())
  const seen = watch(stream)
  await seen.ended
  await world.forget({ ...call.tenant, thread_id })
  expect(await events.last({ ...call.tenant, thread_id })).not.toBeNull()
  const clock = testClock(() => Date.now() + 60_000)
  const later = createStreams({ ...world, clock, logger: createLogger({ level: 'silent' }) })
  for (const from of ['start', { after: seen.ids[0] ?? '' }] as const) {
    const joining = { from, modes: null, gone: staying(), cancel_on_disconnect: false }
    const joined = watch(await later.joinRun(call, thread_id, run.run_id, joining))
    await joined.ended
    expect(names(joined)).toEqual(from === 'start' ? [] : ['gap'])
  }
})
