import { describe, expect, it } from 'vitest'
import { eventually } from '../../../test/support/eventually.ts'
import { playThree } from '../../../test/support/runs/hosts/fake-graph-host.ts'
import { openRunWorld, staying } from '../../../test/support/runs/world.ts'
import { watch } from '../../../test/support/runs/streams/watched-stream.ts'
import { newUuid } from '../../base/ids.ts'
import type { Joining } from './streams.ts'

const REQUEST = { assistant_id: 'agent', input: { n: 1 } }
const NOW: Joining = { from: 'now', modes: null, gone: staying(), cancel_on_disconnect: false }

describe('a stream of a run', () => {
  it('STREAM-21: that reuses the id of a deleted run has only its own events, from any position', async () => {
    const { streams, runs, call, fake, thread } = await openRunWorld()
    const thread_id = await thread()
    const named = { ...REQUEST, run_id: newUuid() }
    fake.play(playThree)
    const former = watch((await streams.create(call, thread_id, named, staying())).stream)
    await former.ended
    await runs.remove(call, thread_id, named.run_id)
    // Runs of the same millisecond cannot be distinguished.
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
