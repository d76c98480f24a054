import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { encodeFrame } from '../../../../src/graph/pool/channel.ts'
import type { GraphHostOptions } from '../../../../src/graph/pool/launch.ts'
import type { HostCall } from '../../../../src/graph/pool/messages.ts'
import type { HostLaunch } from '../../../../src/graph/pool/process.ts'
import type { RunKwargs } from '../../../../src/runs/model.ts'
import type { JsonObject } from '../../../../src/schema/json.ts'
import { eventually } from '../../../support/eventually.ts'
import { inLong } from '../../../support/length.ts'
import { describeHosts, type HostBench, parse, TENANT } from '../../../support/runs/hosts/graph-hosts.ts'
import { type HostWire, openHostWire } from '../../../support/runs/hosts/host-wire.ts'

function stateOf(thread_id: string): HostCall {
  const config = { configurable: { thread_id } }
  return { name: 'state', graph_id: 'hostile', config, subgraphs: false }
}

describeHosts((openBench) => {
  let bench: HostBench
  const wires: HostWire[] = []
  /** A host that the tests use one after the other, because starting a host takes most of their time. */
  let shared: HostWire | undefined
  let ids = 0
  beforeAll(async () => {
    bench = await openBench(['hostile', 'kinds'])
  })
  afterEach(async () => {
    for (const wire of wires.splice(0)) {
      wire.close()
      await wire.exited
    }
  })
  afterAll(async () => {
    shared?.close()
    await shared?.exited
    await bench.stop()
  })

  /** A host of these graphs for one test. */
  function open(launch: HostLaunch, graphs = launch.open.graphs): HostWire {
    const wire = openHostWire(launch, { ...launch.open, graphs })
    wires.push(wire)
    return wire
  }

  /** A host for one test, which may end it. */
  async function opened(): Promise<HostWire> {
    const wire = open(bench.launch())
    await wire.next('opened')
    return wire
  }

  /** The shared host, and two ids that no other test uses. */
  async function reached(): Promise<{ wire: HostWire; id: number; next: number }> {
    if (shared === undefined) {
      const launch = bench.launch()
      shared = openHostWire(launch, launch.open)
    }
    await shared.next('opened')
    ids += 2
    return { wire: shared, id: ids, next: ids + 1 }
  }

  async function begin(
    wire: HostWire,
    id: number,
    input: JsonObject,
    kwargs: Partial<RunKwargs> = {},
  ): Promise<string> {
    const job = await bench.job('hostile', input, kwargs)
    wire.send({ type: 'offer', id }, [JSON.stringify(job)])
    await wire.next('ready', id)
    wire.send({ type: 'go', id })
    return job.run.thread_id
  }

  /** The body of the answer to a call. */
  async function answerOf(wire: HostWire, id: number, call: HostCall): Promise<JsonObject> {
    wire.send({ type: 'call', id, tenant: TENANT }, [JSON.stringify(call)])
    const { parts } = await wire.next('answer', id)
    return parse(parts[0]?.toString('utf8'))
  }

  describe('opening', () => {
    /** A graph that cannot be loaded, and the failure that a host reports for it. */
    function withBroken(change?: Partial<GraphHostOptions>) {
      const launch = bench.launch(change)
      const { graphs } = launch.open
      const broken = {
        ...graphs[0],
        graph_id: 'broken',
        module: null,
        export: 'not_there',
      } as (typeof graphs)[0]
      const { graph_id, file } = broken
      const message = expect.stringContaining(file) as string
      return { launch, broken, failure: { graph_id, file, reason: expect.any(String) as string, message } }
    }

    it('HOST-4: files are reported before the host says that it is open, and names graphs that cannot be loaded', async () => {
      const { launch, broken, failure } = withBroken({ loaded: () => undefined })
      const wire = open(launch, [...launch.open.graphs, broken])
      expect((await wire.next('opened')).head.failures).toMatchObject([failure])
      expect(wire.frames[0]?.head.type).toBe('loaded')
      const files = wire.frames.flatMap(({ head }) => (head.type === 'loaded' ? head.files : []))
      expect(files.some((file) => /\/kinds\.(ts|py)$/.test(file))).toBe(true)
      expect(files.filter((file) => !file.startsWith('/'))).toEqual([])
    })

    it('HOST-4: the host fails if no graph can be loaded', async () => {
      const { launch, broken, failure } = withBroken()
      const none = await open(launch, [broken]).next('failed')
      expect(none.head).toMatchObject({ message: failure.message, failures: [failure] })
    })
  })

  describe('a job', () => {
    it('HOST-6, HOST-8, HOST-10: is offered, accepted and granted, and ends once', async () => {
      const { wire, id, next } = await reached()
      const thread_id = await begin(wire, id, { act: 'none' })
      const { head, parts } = await wire.next('end', id)
      const state = { next: [], interrupts: {} }
      expect(head).toMatchObject({ end: { kind: 'done' }, state, values: 'state' })
      expect(parts.map((part) => parse(part.toString('utf8')))).toMatchObject([
        { act: 'none', log: 'acted' },
        { next: [], checkpoint: { thread_id } },
      ])
      expect(wire.typesOf(id)).toEqual(['ready', 'items', 'end'])
      const events = wire.frames.flatMap((frame) => {
        if (frame.head.type !== 'items' || frame.head.id !== id) return []
        expect(frame.parts).toHaveLength(frame.head.events.length)
        return frame.head.events
      })
      expect(events).toEqual(['metadata', 'values', 'values', 'values'])
      // All writes are stored before the run ends.
      expect(await answerOf(wire, next, stateOf(thread_id))).toMatchObject({
        values: { log: 'acted' },
        next: [],
      })
      expect(wire.typesOf(id).filter((type) => type === 'end')).toHaveLength(1)
    })

    inLong(() => {
      it('HOST-6: that is dropped never begins', async () => {
        const { wire, id, next } = await reached()
        const job = await bench.job('hostile', { act: 'none' })
        wire.send({ type: 'offer', id }, [JSON.stringify(job)])
        await wire.next('ready', id)
        wire.send({ type: 'drop', id })
        wire.send({ type: 'go', id })
        expect(await answerOf(wire, next, stateOf(job.run.thread_id))).toMatchObject({ next: [] })
        expect(wire.typesOf(id)).toEqual(['ready'])
      })

      it('HOST-10: may stop before any number of tasks', async () => {
        const { wire, id } = await reached()
        const crowd = 'crowd'.repeat(300)
        await begin(wire, id, { act: 'crowd' }, { interrupt_before: [crowd] })
        const { head, parts } = await wire.next('end', id)
        expect(head).toMatchObject({ end: { kind: 'done' }, state: { interrupts: {} } })
        expect(head.state?.next).toEqual([crowd.slice(0, 500)])
        expect(parse(parts[1]?.toString('utf8')).next).toEqual(Array.from({ length: 1_000 }, () => crowd))
      })
    })

    it('HOST-11, HOST-13: beats while it runs, and a cancel ends it; further ones are ignored', async () => {
      const { wire, id, next } = await reached()
      const beats = (): number => wire.frames.filter(({ head }) => head.type === 'beat').length
      const before = beats()
      await begin(wire, id, { act: 'ignore' })
      await eventually(async () => expect(beats()).toBeGreaterThan(before + 2))
      wire.send({ type: 'cancel', id })
      wire.send({ type: 'cancel', id })
      const { head } = await wire.next('end', id)
      const state = { next: ['misbehave'] }
      expect(head).toMatchObject({ end: { kind: 'cancelled' }, state, values: 'none' })
      wire.send({ type: 'cancel', id })
      await answerOf(wire, next, { name: 'graph', graph_id: 'kinds', config: {}, xray: false })
      expect(wire.typesOf(id)).toEqual(['ready', 'items', 'end'])
    })

    inLong(() => {
      it('HOST-11: ends without a state when it is to be rolled back', async () => {
        const { wire, id } = await reached()
        await begin(wire, id, { act: 'ignore' })
        wire.send({ type: 'cancel', id, state: false })
        const { head } = await wire.next('end', id)
        expect(head).toMatchObject({ end: { kind: 'cancelled' }, state: null, values: 'none' })
      })

      it('HOST-15: that ends the process is named before', async () => {
        const wire = await opened()
        await begin(wire, 1, { act: 'exit' })
        expect(await wire.exited).toBe(3)
        const { head } = await wire.next('culprit', 1)
        expect(head.message).toBe('The graph ended its process with code 3.')
        expect(wire.typesOf(1)).not.toContain('end')
      })
    })
  })

  describe('frames', () => {
    inLong(() => {
      it('HOST-1: may come in any portions', async () => {
        const launch = bench.launch()
        const wire = openHostWire(launch)
        wires.push(wire)
        const call = { type: 'call', id: 1, tenant: TENANT }
        const parts = [JSON.stringify(stateOf('nothing'))]
        const bytes = encodeFrame(launch.open)
        for (let at = 0; at < bytes.length; at += 97) wire.write(bytes.subarray(at, at + 97))
        await wire.next('opened')
        wire.write(Buffer.concat([encodeFrame(call, parts), encodeFrame({ ...call, id: 2 }, parts)]))
        await Promise.all([wire.next('answer', 1), wire.next('answer', 2)])
      })

      it('HOST-3: of unknown types are ignored, as are unknown fields', async () => {
        const { wire, id, next } = await reached()
        wire.send({ type: 'of_a_later_version', id, more: { n: 1 } })
        wire.send({ type: 'go', id: 9999 })
        const later = { later: true } as object
        wire.send({ ...later, type: 'call', id: next, tenant: TENANT }, [JSON.stringify(stateOf('nothing'))])
        await wire.next('answer', next)
        expect(wire.typesOf(id)).toEqual([])
      })
    })

    it('HOST-6, HOST-12: that cannot be read fail their job or their call; the host goes on', async () => {
      const { wire, id, next } = await reached()
      for (const broken of ['{', '"\\x"', 'NaN', '', 'null']) {
        const end = wire.frames.length
        wire.send({ type: 'offer', id }, [broken])
        wire.send({ type: 'go', id })
        wire.send({ type: 'call', id: next, tenant: TENANT }, [broken])
        await eventually(async () => {
          const types = wire.frames.slice(end).map(({ head }) => head.type)
          expect(types).toContain('end')
          expect(types).toContain('refused')
        })
        const ended = wire.frames.slice(end).find(({ head }) => head.type === 'end')?.head
        expect(ended).toMatchObject({ id, end: { kind: 'failed', retryable: false }, state: null })
      }
    })

    inLong(() => {
      it('HOST-12: of calls are refused with a code and words', async () => {
        const { wire, id: first } = await reached()
        const calls = [
          { ...stateOf('x'), graph_id: 'nowhere' },
          { name: 'of_a_later_version', graph_id: 'kinds', config: {} } as unknown as HostCall,
          { name: 'embed' as const, texts: ['x'] },
        ]
        // These calls need more than the two ids that a test reserves.
        ids += 2
        calls.forEach((call, n) =>
          wire.send({ type: 'call', id: first + n, tenant: TENANT }, [JSON.stringify(call)]),
        )
        const refused = await Promise.all(calls.map((_, n) => wire.next('refused', first + n)))
        expect(refused.map(({ head }) => head.code)).toEqual([
          'not_found',
          'invalid_request',
          'invalid_request',
        ])
        for (const { head } of refused) expect(head.message).toMatch(/\w/)
      })
    })
  })

  describe('the process', () => {
    it('HOST-16: ignores signals that terminals send, and ends on a stop frame', async () => {
      const wire = await opened()
      process.kill(wire.pid, 'SIGINT')
      process.kill(wire.pid, 'SIGTERM')
      await answerOf(wire, 1, stateOf('nothing'))
      wire.send({ type: 'stop' })
      expect(await wire.exited).toBe(0)
    })

    inLong(() => {
      it('HOST-16: ends with its channel, though a node is at work', async () => {
        const wire = await opened()
        await begin(wire, 1, { act: 'ignore' })
        wire.close()
        expect(await wire.exited).toBe(0)
      })
    })
  })
})
