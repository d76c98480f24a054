import { describe, expect, it } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { doneWith, type PlayedJob } from '../../test/support/fake-graph-host.ts'
import { openRunWorld, staying } from '../../test/support/run-world.ts'
import { watch } from '../../test/support/watched-stream.ts'
import { newUuid } from '../base/ids.ts'
import type { Joining } from './streams.ts'

const REQUEST = { assistant_id: 'agent', input: { n: 1 } }
const NOW: Joining = { from: 'now', modes: null, gone: staying(), cancel_on_disconnect: false }

/** A graph that says three things and ends. */
function playThree(job: PlayedJob): void {
  job.items(['metadata', { run_id: job.job.run.run_id, attempt: 1 }], ['values', 1])
  job.items(['updates', 2], ['values', 3])
  job.end(doneWith({ n: 3 }))
}

describe('a stream of a run', () => {
  it('that has the id of a deleted one shows its own events only, wherever a client begins', async () => {
    const { streams, runs, call, fake, thread } = await openRunWorld()
    const thread_id = await thread()
    const named = { ...REQUEST, run_id: newUuid() }
    fake.play(playThree)
    const former = watch((await streams.create(call, thread_id, named, staying())).stream)
    await former.ended
    await runs.remove(call, thread_id, named.run_id)
    // Two runs of one millisecond cannot be told apart.
    const ended = Date.now()
    await eventually(async () => expect(Date.now()).toBeGreaterThan(ended))
    fake.play(playThree)
    const own = watch((await streams.create(call, thread_id, named, staying())).stream)
    await own.ended
    const [first = ''] = former.ids
    for (const from of ['start', { after: first }] as const) {
      const joined = watch(await streams.joinRun(call, thread_id, named.run_id, { ...NOW, from }))
      await joined.ended
      expect(joined.ids).toEqual(own.ids)
    }
  })
})
