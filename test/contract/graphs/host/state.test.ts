import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StreamItem } from '../../../../src/runs/execute/graph-host.ts'
import type { JsonObject } from '../../../../src/schema/json.ts'
import {
  type Executed,
  type HostBench,
  describeHosts,
  TENANT,
  ask,
  configOf,
  dataOf,
  historyOf,
  parse,
  stateOf,
} from '../../../support/runs/hosts/graph-hosts.ts'
import { inLong } from '../../../support/length.ts'

describeHosts((open) => {
  let bench: HostBench
  const SILENT = { items: () => undefined, trace: () => undefined }
  beforeAll(async () => {
    bench = await open(['tokens', 'kinds'])
  })
  afterAll(() => bench.stop())

  describe('a cancel', () => {
    it('ends the run at once, with the state of the last step', async () => {
      const abort = new AbortController()
      const job = await bench.job('kinds', { kind: 'slow' })
      const items: StreamItem[] = []
      const traced: JsonObject[] = []
      const ended = bench.hosts.run(
        { ...job, trace_id: job.run.run_id },
        {
          items(more) {
            items.push(...more)
            if (dataOf(items, 'values').length === 2) abort.abort()
          },
          trace: (body) => traced.push(JSON.parse(Buffer.from(body).toString('utf8')) as JsonObject),
        },
        abort.signal,
      )
      const end = await ended
      expect(end).toMatchObject({ kind: 'cancelled', state: { next: ['respond'] } })
      expect(stateOf(end)['log']).toEqual(['begun'])
      // No TraceRun is left without an end.
      const operations = traced.flatMap(({ post, patch }) => [
        ...(post as JsonObject[]),
        ...(patch as JsonObject[]),
      ])
      const last = new Map(operations.map((operation) => [operation['id'], operation]))
      expect(last.size).toBeGreaterThan(1)
      expect([...last.values()].filter((operation) => operation['end_time'] === undefined)).toEqual([])
    })

    it('at any moment leaves the state of the last finished step, which does not change afterwards', async () => {
      const cancelled = Array.from({ length: 24 }, async (_, i) => {
        const abort = new AbortController()
        // A run can be cancelled between two steps. The model's first token would take ten minutes, so it is never
        // sent.
        const input = { steps: 60, stepDelayMs: 1, tokenDelayMs: 600_000 }
        const job = await bench.job('tokens', input, { config: { recursion_limit: 100 } })
        let steps = 0
        const events = {
          items: (more: readonly StreamItem[]) => {
            steps += more.filter(({ event }) => event === 'values').length
            if (steps > i) abort.abort()
          },
          trace: () => undefined,
        }
        const end = await bench.hosts.run(job, events, abort.signal)
        return { job, end, steps }
      })
      for (const { job, end, steps } of await Promise.all(cancelled)) {
        expect(end.kind).toBe('cancelled')
        // The states whose values were streamed are stored. The first values are those of the input, before any step.
        expect(Number(stateOf(end)['i'] ?? 0)).toBeGreaterThanOrEqual(steps - 1)
        expect(end.state?.next).toHaveLength(1)
        const read = await ask(bench, {
          name: 'state',
          graph_id: 'tokens',
          config: configOf(job.run),
          subgraphs: false,
        })
        expect(read).toEqual({ values: stateOf(end), ...parse(end.state?.rest_json) })
      }
    })

    it('ends a run that has not begun', async () => {
      const job = await bench.job('kinds', { kind: 'plain' })
      const { end, items } = await bench.execute(job, AbortSignal.abort())
      expect(end).toEqual({ kind: 'cancelled', state: undefined })
      expect(items).toEqual([])
    })
  })

  describe('state and graphs', () => {
    it('updates a state as a node', async () => {
      const thread_id = randomUUID()
      await bench.run('kinds', { kind: 'plain' }, { interrupt_before: ['respond'] }, thread_id)
      const call = { name: 'update_state', graph_id: 'kinds', config: configOf({ thread_id }) } as const
      const answer = await bench.hosts.call(TENANT, {
        ...call,
        values: { log: ['by hand'] },
        as_node: 'respond',
      })
      expect(parse(answer.body)).toMatchObject({
        checkpoint: { thread_id, checkpoint_ns: '' },
        configurable: { thread_id },
      })
      expect(answer.state?.next).toEqual(['finish'])
      expect(parse(answer.state?.values_json)['log']).toEqual(['begun', 'by hand'])
      await expect(
        bench.hosts.call(TENANT, { ...call, values: {}, as_node: 'nowhere' }),
      ).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('nowhere'),
      })
    })

    inLong(() => {
      it('creates a state from super-steps', async () => {
        const thread_id = randomUUID()
        await bench.store.createThread(TENANT, { thread_id, metadata: {}, config: {}, ttl: null })
        const supersteps = [
          { updates: [{ values: { kind: 'plain' }, as_node: '__input__' }] },
          { updates: [{ values: { kind: 'plain' }, as_node: '__start__' }] },
          { updates: [{ values: { log: ['made'] }, as_node: 'begin' }] },
        ]
        const answer = await bench.hosts.call(TENANT, {
          name: 'bulk_update',
          graph_id: 'kinds',
          config: configOf({ thread_id }),
          supersteps,
        })
        expect(parse(answer.state?.values_json)).toMatchObject({ kind: 'plain', log: ['made'] })
        expect(answer.state?.next).toEqual(['respond'])
      })
    })

    it('reads a history newest first, by limit, before and metadata', async () => {
      const thread_id = randomUUID()
      const { end } = await bench.run('kinds', { kind: 'plain' }, {}, thread_id)
      const all = await historyOf(bench, thread_id)
      expect(all.map(({ next }) => next)).toEqual([[], ['finish'], ['respond'], ['begin'], ['__start__']])
      expect(all[0]).toEqual({ values: stateOf(end), ...parse(end.state?.rest_json) })
      expect(await historyOf(bench, thread_id, { limit: 2 })).toEqual(all.slice(0, 2))
      expect(await historyOf(bench, thread_id, { before: all[1]?.['checkpoint'] as JsonObject })).toEqual(
        all.slice(2),
      )
      expect(await historyOf(bench, thread_id, { metadata: { step: 1 } })).toEqual([all[2]])
      expect(await historyOf(bench, randomUUID())).toEqual([])
    })

    inLong(() => {
      it('returns the whole history, though parts of it were returned before', async () => {
        const thread_id = randomUUID()
        const expectTheSame = async (): Promise<number> => {
          // With a filter, even an empty one, the host does not reuse the states that it returned before.
          const all = await historyOf(bench, thread_id, { metadata: {} })
          for (const limit of [1000, 2, 1000])
            expect(await historyOf(bench, thread_id, { limit })).toEqual(all.slice(0, limit))
          const before = all[1]?.['checkpoint'] as JsonObject
          expect(await historyOf(bench, thread_id, { before })).toEqual(all.slice(2))
          const config = configOf({ thread_id }, { checkpoint_id: String(before['checkpoint_id']) })
          expect(await historyOf(bench, thread_id, { config })).toEqual([all[1]])
          return all.length
        }
        await bench.run('kinds', { kind: 'plain' }, { interrupt_before: ['respond'] }, thread_id)
        const interrupted = await expectTheSame()
        // This run writes to the checkpoint that was read last, adds further checkpoints, and is then rolled back.
        const job = await bench.job('kinds', null, { interrupt_before: ['finish'] }, thread_id)
        await bench.hosts.run(job, SILENT, new AbortController().signal)
        expect(await expectTheSame()).toBeGreaterThan(interrupted)
        await bench.store.rollback(job.lease)
        expect(await expectTheSame()).toBe(interrupted)
        await bench.run('kinds', null, {}, thread_id)
        expect(await expectTheSame()).toBeGreaterThan(interrupted)
        const config = { configurable: (await historyOf(bench, thread_id))[3]?.['checkpoint'] as JsonObject }
        await bench.hosts.call(TENANT, {
          name: 'update_state',
          graph_id: 'kinds',
          config,
          values: { log: ['by hand'] },
          as_node: 'begin',
        })
        await expectTheSame()
      })
    })

    it('returns graphs for drawing, with their schemas and subgraphs', async () => {
      const graph = (await ask(bench, { name: 'graph', graph_id: 'kinds', config: {}, xray: false })) as {
        nodes: JsonObject[]
      }
      expect(graph.nodes.map(({ id }) => id)).toContain('nested')
      const xray = (await ask(bench, { name: 'graph', graph_id: 'kinds', config: {}, xray: true })) as {
        nodes: JsonObject[]
      }
      expect(xray.nodes.length).toBeGreaterThan(graph.nodes.length)
      const schemas = await ask(bench, { name: 'schemas', graph_id: 'kinds', config: {} })
      const properties = { messages: { type: 'array' }, kind: {}, log: {} }
      expect(schemas).toMatchObject({
        graph_id: 'kinds',
        input_schema: { properties },
        output_schema: { properties },
      })
      const subgraphs = { name: 'subgraphs', graph_id: 'kinds', config: {}, recurse: true } as const
      expect(await ask(bench, { ...subgraphs, namespace: null })).toMatchObject({
        nested: { state_schema: { type: 'object' } },
      })
      await expect(ask(bench, { ...subgraphs, namespace: 'none' })).rejects.toMatchObject({
        code: 'not_found',
      })
    })
  })

  describe('own traces (D-45)', () => {
    it('HOST-9: contain the run as a tree with the run id as trace, and the model with its first token', async () => {
      const input = { tokens: 3, messages: [{ role: 'user', content: 'hi' }] }
      const job = await bench.job('tokens', input, { stream_mode: ['messages-tuple'] }, undefined, true)
      const { traces } = await bench.execute(job)
      const sent = traces.flatMap(({ post, patch }) => [
        ...(post as JsonObject[]),
        ...(patch as JsonObject[]),
      ])
      // On a busy machine the beginning and the end of a TraceRun may be in two batches.
      const merged = new Map<unknown, JsonObject>()
      for (const one of sent) merged.set(one['id'], { ...merged.get(one['id']), ...one })
      const operations = [...merged.values()]
      const { run_id, thread_id } = job.run
      expect(operations.every((operation) => operation['trace_id'] === run_id)).toBe(true)
      expect(operations.every((operation) => operation['session_name'] === 'fixtures')).toBe(true)
      const root = operations.find(({ id }) => id === run_id)
      expect(root).toMatchObject({ run_type: 'chain', extra: { metadata: { run_id, thread_id } } })
      expect(root?.['parent_run_id']).toBeUndefined()
      const llm = operations.find((operation) => operation['run_type'] === 'llm')
      expect(llm).toMatchObject({
        outputs: { generations: [[{ text: 'tok0 tok1 tok2 ' }]] },
        end_time: expect.anything(),
      })
      const events = llm?.['events'] as JsonObject[] | undefined
      expect(events?.map(({ name }) => name)).toEqual(['start', 'new_token', 'end'])
      expect(operations.map(({ name }) => name)).toEqual(expect.arrayContaining(['plan', 'model', 'finish']))
    })

    inLong(() => {
      it('lose no token of many streams at once (D-42)', async () => {
        const runs = Array.from({ length: 8 }, async (): Promise<Executed> => {
          const job = await bench.job(
            'tokens',
            { tokens: 1_000 },
            { stream_mode: ['messages-tuple'] },
            undefined,
            true,
          )
          return bench.execute(job)
        })
        for (const { items, end } of await Promise.all(runs)) {
          const texts = dataOf(items, 'messages').map(
            (tuple) => (tuple as unknown as [JsonObject])[0]['content'],
          )
          expect(texts).toEqual(Array.from({ length: 1_000 }, (_, i) => `tok${i} `))
          expect(end.kind).toBe('done')
        }
      })
    })
  })
})
