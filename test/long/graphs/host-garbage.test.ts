import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { JsonValue } from '../../../src/schema/json.ts'
import { type HostBench, openHostBench } from '../../support/runs/hosts/graph-hosts.ts'
import { newGate } from '../../support/runs/gate.ts'

// A server and several hosts start, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

const MANY_VALUES = { head: '{},', times: 2e6, before: '{"type":"log","x":[', after: '0]}' }

describe('D-64: a graph that writes to the channel of its host', () => {
  let bench: HostBench
  beforeAll(async () => {
    bench = await openHostBench(['tokens', 'hostile'], { maxHosts: 1 })
  })
  afterAll(() => bench.stop())

  const heads: [string, JsonValue, RegExp][] = [
    ['a head of many small values', MANY_VALUES, /its head has \d+ bytes, and 1048576 are allowed\.$/],
    ['no JSON', { head: '{"type":' }, /its head is not JSON\.$/],
    [
      'a field of another type',
      { head: '{"type":"loaded","files":7}' },
      /its field "files" of "loaded" is not valid\.$/,
    ],
  ]
  it.each(heads)(
    'fails at its first try with the reason, and others go on: %s',
    async (_what, act, reason) => {
      const { end } = await bench.run('hostile', { act })
      expect(end).toMatchObject({ kind: 'lost', culprit: true, error: 'HostLost' })
      expect(end.kind === 'lost' && end.message).toMatch(reason)
      expect((await bench.run('tokens', { tokens: 1 })).end).toMatchObject({ kind: 'done' })
    },
  )

  it('is found by executing it alone, if another run was on its host', async () => {
    const { hosts, job } = bench
    const gate = await newGate()
    const jobs = [
      await job('hostile', { act: 'until', mark: gate.file }),
      await job('hostile', { act: { head: '[' } }),
    ]
    const execute = (attempt: number) =>
      Promise.all(
        jobs.map((one) =>
          hosts.run(
            { ...one, run: { ...one.run, attempt } },
            { items: () => undefined, trace: () => undefined },
            new AbortController().signal,
          ),
        ),
      )
    const lost = { kind: 'lost', culprit: false }
    expect(await execute(1)).toMatchObject([lost, lost])
    await gate.open()
    expect(await execute(2)).toMatchObject([{ kind: 'done' }, { kind: 'lost', culprit: true }])
  })
})
