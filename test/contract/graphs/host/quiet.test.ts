import { expect, it, onTestFinished } from 'vitest'
import { createLogger } from '../../../../src/base/log.ts'
import { describeHosts } from '../../../support/runs/hosts/graph-hosts.ts'

describeHosts((open) => {
  it('nothing is written to stderr when a node ends after its run was cancelled', async () => {
    const lines: string[] = []
    const logger = createLogger({ level: 'warn', destination: { write: (line) => void lines.push(line) } })
    const bench = await open(['hostile'], { logger })
    onTestFinished(() => bench.stop())
    const cancel = new AbortController()
    const job = await bench.job('hostile', { act: 'wait' }, { stream_mode: ['updates'] }, undefined, true)
    // The step before the node has ended, so the node is running.
    const items = (batch: readonly { event: string }[]): void => {
      if (batch.some(({ event }) => event === 'updates')) cancel.abort()
    }
    const end = await bench.hosts.run(job, { items, trace: () => undefined }, cancel.signal)
    expect(end.kind).toBe('cancelled')
    // This node starts later than the cancelled node and takes as long. When it has ended, both have.
    expect((await bench.run('hostile', { act: 'wait' })).end.kind).toBe('done')
    // On a busy machine the log may also report that a host has sent nothing for a while.
    expect(lines.filter((line) => line.includes('wrote to stderr'))).toEqual([])
  })
})
