import { describe, expect, it } from 'vitest'
import { addRevision, archiveOf, createDeployment, endedRevision } from '../../support/deploy-project.ts'
import { graphOf, keepRunning, latencies, NODES, quantile, runOnce } from '../../support/neighbours.ts'
import { useOwnWeir } from '../../support/servers/own-weir.ts'

/** Pairs of windows: one alone, and one beside the neighbours. */
const WINDOWS = 5
const RUNS = 200

function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

describe('P-24: a deployment beside one that loops and one that leaks', () => {
  const server = useOwnWeir({ HOST_STALL_SECONDS: '3' })

  it('answers in less than twice the time that it needs alone', async () => {
    const weir = server.current()
    for (const [name, node] of Object.entries(NODES)) {
      const { id } = await createDeployment(weir, name)
      const { id: revision_id } = await addRevision(
        weir,
        id,
        await archiveOf({
          'langgraph.json': JSON.stringify({ graphs: { agent: './agent.ts:graph' } }),
          'package.json': JSON.stringify({ name, version: '1.0.0', type: 'module' }),
          'agent.ts': graphOf(node),
        }),
      )
      expect(await endedRevision(weir, id, revision_id)).toMatchObject({ status: 'DEPLOYED' })
    }
    await latencies(weir, 'well', RUNS)
    const ratios: { p50: number; p99: number }[] = []
    for (let window = 0; window < WINDOWS; window += 1) {
      const alone = await latencies(weir, 'well', RUNS)
      const ends = [keepRunning(weir, 'loops'), keepRunning(weir, 'leaks')]
      const beside = await latencies(weir, 'well', RUNS)
      const over = Promise.all(ends.map((end) => end()))
      await over
      const ratioAt = (share: number): number => quantile(beside, share) / quantile(alone, share)
      ratios.push({ p50: ratioAt(0.5), p99: ratioAt(0.99) })
      await runOnce(weir, 'well')
    }
    console.log('beside / alone', JSON.stringify(ratios))
    expect(median(ratios.map(({ p50 }) => p50))).toBeLessThan(2)
    expect(median(ratios.map(({ p99 }) => p99))).toBeLessThan(2)
  })
})
