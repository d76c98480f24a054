import { MemorySaver } from '@langchain/langgraph-checkpoint'
import { expect, it } from 'vitest'
import { SealableSaver } from './sealable-saver.ts'

const CONFIG = { configurable: { thread_id: 't', checkpoint_ns: '', checkpoint_id: 'c' } }

it('stores nothing of a node that writes while the last writes are being stored', async () => {
  const written: string[] = []
  const late: Promise<void>[] = []
  const inner = Object.assign(new MemorySaver(), {
    caughtUp: () => undefined,
    async putWrites(_config: unknown, _writes: unknown, task: string) {
      written.push(task)
    },
    async stored() {
      late.push(saver.putWrites(CONFIG, [['i', 2]], 'late'))
    },
  })
  const saver: SealableSaver = new SealableSaver(inner)
  const early = saver.putWrites(CONFIG, [['i', 1]], 'early')
  await saver.settled()
  await Promise.all([early, ...late])
  expect([written, late.length]).toEqual([['early'], 1])
})
