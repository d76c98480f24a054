import { describe, expect, it } from 'vitest'
import { collectGarbage } from '../base/node/collect-garbage.ts'
import { eventually } from '../../test/support/eventually.ts'
import { releaseIdleMemory } from './idle-memory.ts'

/** Allocates 96 MB that become garbage at once; returns a weak reference to them. */
function litter(): WeakRef<Uint8Array> {
  return new WeakRef(new Uint8Array(96 * 1024 * 1024))
}

describe('releaseIdleMemory', () => {
  it('collects the garbage of large tasks after the last of them', async () => {
    // Garbage of other tests, which V8 may collect at any time, would hide the growth.
    collectGarbage()
    const memory = releaseIdleMemory()
    memory.begin()
    memory.begin()
    const first = litter()
    memory.end()
    memory.end()
    await eventually(async () => expect(first.deref() === undefined).toBe(true))
    memory.begin()
    const second = litter()
    memory.end()
    await eventually(async () => expect(second.deref() === undefined).toBe(true))
  })
})
