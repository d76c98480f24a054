import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { dataOf, describeHosts, type HostBench } from '../../../support/runs/hosts/graph-hosts.ts'

describeHosts((open) => {
  let bench: HostBench
  beforeAll(async () => {
    bench = await open(['tokens', 'kinds'])
  })
  afterAll(() => bench.stop())

  it.each([
    ['plain', 3],
    ['fan', 5],
    // The node, and the two of its subgraph.
    ['sub', 5],
    ['goto', 2],
    ['tool', 3],
    ['fail', 1],
    ['ask', 1],
    ['ask_twice', 1],
  ])('HOST-10: tells how many nodes it has completed: %s', async (kind, nodes) => {
    for (const durability of ['async', 'exit'] as const)
      expect((await bench.run('kinds', { kind }, { durability })).end).toMatchObject({ nodes })
  })

  it('HOST-10: counts the nodes of a run over protocol v2 too, and with events', async () => {
    for (const kwargs of [{ protocol: 2 as const, subgraphs: true }, { stream_mode: ['events'] }])
      expect((await bench.run('kinds', { kind: 'sub' }, kwargs)).end).toMatchObject({ nodes: 5 })
  })

  it('HOST-10: a run that goes on after an interrupt has only its own nodes', async () => {
    const thread_id = randomUUID()
    await bench.run('kinds', { kind: 'ask' }, {}, thread_id)
    const { end } = await bench.run('kinds', null, { command: { resume: 'yes' } }, thread_id)
    expect(end).toMatchObject({ kind: 'done', nodes: 2 })
  })

  it('HOST-10: a cancelled run has the nodes that were completed', async () => {
    const abort = new AbortController()
    const job = await bench.job('kinds', { kind: 'slow' })
    const items = (more: Parameters<typeof dataOf>[0]) => {
      if (dataOf(more, 'values').some(({ log }) => Array.isArray(log) && log.length === 1)) abort.abort()
    }
    const end = await bench.hosts.run(job, { items, trace: () => undefined }, abort.signal)
    expect(end).toMatchObject({ kind: 'cancelled', nodes: 1 })
  })
})
