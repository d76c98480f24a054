import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readDeploymentFile } from '../../../../src/graph/project/deployment-file.ts'
import type { GraphEvents, StreamItem } from '../../../../src/runs/execute/graph-host.ts'
import type { JsonObject } from '../../../../src/schema/json.ts'
import {
  type HostBench,
  describeHosts,
  openHostBench,
  ask,
  configOf,
  dataOf,
  historyOf,
  parse,
  stateOf,
} from '../../../support/runs/hosts/graph-hosts.ts'
import { inLong } from '../../../support/length.ts'
import { newFolder } from '../../../support/folder.ts'

describeHosts((open, language) => {
  let bench: HostBench
  beforeAll(async () => {
    bench = await open(['tokens', 'kinds', 'factory'])
  })
  afterAll(() => bench.stop())

  function names(items: readonly StreamItem[]): string[] {
    return items.map(({ event }) => event)
  }

  describe('a run', () => {
    it('begins with metadata, streams the requested modes, and ends with values, next nodes and interrupts', async () => {
      const job = await bench.job('kinds', { kind: 'plain' }, { stream_mode: ['values', 'updates'] })
      const { end, items } = await bench.execute(job)
      expect(names(items)).toEqual([
        'metadata',
        'values',
        ...Array.from({ length: 3 }, () => ['updates', 'values']).flat(),
      ])
      expect(parse(items[0]?.data)).toEqual({ run_id: job.run.run_id, attempt: 1 })
      expect(dataOf(items, 'updates')).toEqual([
        { begin: { log: ['begun'] } },
        { respond: { log: ['answered plain'] } },
        { finish: { log: ['finished'] } },
      ])
      const values = { messages: [], kind: 'plain', log: ['begun', 'answered plain', 'finished'] }
      expect(end).toMatchObject({ kind: 'done', state: { next: [], interrupts: {} } })
      expect(stateOf(end)).toEqual(values)
      expect(end.kind === 'done' && end.values).toBe(items.at(-1)?.data)
      const rest = parse(end.state?.rest_json)
      expect(rest).toMatchObject({
        next: [],
        tasks: [],
        interrupts: [],
        metadata: {
          source: 'loop',
          step: 3,
          run_id: job.run.run_id,
          thread_id: job.run.thread_id,
          made_by: 'test',
        },
        checkpoint: { thread_id: job.run.thread_id, checkpoint_ns: '' },
      })
      // The state that came with the end equals the state that is read afterwards.
      const read = await ask(bench, {
        name: 'state',
        graph_id: 'kinds',
        config: configOf(job.run),
        subgraphs: false,
      })
      expect(read).toEqual({ values, ...rest })
    })

    inLong(() => {
      it('follows the node of a Send or goto', async () => {
        expect(stateOf((await bench.run('kinds', { kind: 'goto' })).end)['log']).toEqual(['went', 'finished'])
        const fan = await bench.run('kinds', { kind: 'fan' }, { stream_mode: ['updates'] })
        expect(dataOf(fan.items, 'updates').map((update) => Object.keys(update)[0])).toEqual([
          'begin',
          'piece',
          'piece',
          'piece',
          'finish',
        ])
      })

      it('streams what a node writes, and the messages that it returns', async () => {
        const custom = await bench.run('kinds', { kind: 'custom' }, { stream_mode: ['custom'] })
        expect(dataOf(custom.items, 'custom')).toEqual([{ step: 1 }])
        const tool = await bench.run('kinds', { kind: 'tool' }, { stream_mode: ['messages-tuple'] })
        const tuples = dataOf(tool.items, 'messages') as unknown as [JsonObject, JsonObject][]
        expect(tuples.map(([message]) => [message['type'], message['id']])).toEqual([
          ['ai', 'call'],
          ['tool', 'result'],
        ])
        expect(tuples[0]?.[1]).toMatchObject({
          langgraph_node: 'respond',
          graph_node: 'respond',
          run_attempt: 1,
        })
      })

      it('names the events of subgraphs by their namespace', async () => {
        const { items } = await bench.run(
          'kinds',
          { kind: 'sub' },
          { stream_mode: ['updates', 'custom'], subgraphs: true },
        )
        const inner = items.filter(({ event }) => event.includes('|'))
        expect(names(inner).map((name) => name.replace(/:.*/, ''))).toEqual([
          'custom|nested',
          'updates|nested',
          'updates|nested',
        ])
        const flat = await bench.run('kinds', { kind: 'sub' }, { stream_mode: ['updates'] })
        expect(names(flat.items)).toEqual(['metadata', 'updates', 'updates', 'updates'])
      })

      it('streams events, tasks, checkpoints and debug if requested', async () => {
        const { items } = await bench.run(
          'kinds',
          { kind: 'plain' },
          { stream_mode: ['events', 'tasks', 'checkpoints', 'debug'] },
        )
        expect(new Set(names(items))).toEqual(
          new Set(['metadata', 'events', 'tasks', 'checkpoints', 'debug']),
        )
        expect(dataOf(items, 'events')[0]).toMatchObject({
          event: 'on_chain_start',
          name: expect.any(String),
        })
        expect(dataOf(items, 'checkpoints')[0]).toMatchObject({
          next: ['__start__'],
          metadata: { source: 'input' },
        })
        expect(dataOf(items, 'debug').map(({ type }) => type)).toContain('task_result')
        const configs = dataOf(items, 'checkpoints').map(({ config }) =>
          Object.keys((config as JsonObject)['configurable'] ?? {}),
        )
        expect(configs.flat().filter((key) => key.startsWith('__'))).toEqual([])
      })
    })

    it('ends with the class of its error as the last event, and the state of the last step', async () => {
      const { end, items } = await bench.run('kinds', { kind: 'fail' })
      expect(end).toMatchObject({
        kind: 'failed',
        error: 'QuotaError',
        message: 'no more quota',
        retryable: false,
        node: 'respond',
        place: expect.stringMatching(language === 'python' ? /kinds\.py:63$/ : /kinds\.ts:57$/),
      })
      expect(items.at(-1)).toEqual({
        event: 'error',
        data: '{"error":"QuotaError","message":"no more quota"}',
      })
      expect(stateOf(end)['log']).toEqual(['begun'])
      expect(end.state?.next).toEqual(['respond'])
    })

    inLong(() => {
      it('fails when it takes more steps than the limit of its config', async () => {
        const { end } = await bench.run('tokens', { steps: 9 }, { config: { recursion_limit: 5 } })
        expect(end).toMatchObject({ kind: 'failed', error: 'GraphRecursionError' })
      })
    })

    it('RUN-16, HOST-2: gets config, context and the environment of langgraph.json, and nothing of the server', async () => {
      const config = { configurable: { flavour: 'sweet', 'x-name': 'header', run_id: 'forged' } }
      const { end } = await bench.run('kinds', { kind: 'config' }, { config, context: { user: 'u' } })
      expect(stateOf(end)['answer']).toMatchObject({
        configurable: { flavour: 'sweet', 'x-name': 'header', graph_id: 'kinds', assistant_id: 'assistant' },
        context: { user: 'u' },
        env: 'yes',
      })
      expect(JSON.stringify(stateOf(end))).not.toContain('forged')
    })

    it('uses a factory with its config', async () => {
      const sweet = await bench.run('factory', {}, { config: { configurable: { flavour: 'sweet' } } })
      expect(stateOf(sweet.end)['log']).toEqual(['made sweet'])
      expect(stateOf((await bench.run('factory', {})).end)['log']).toEqual(['made plain'])
    })

    it('can use long-term memory', async () => {
      expect(stateOf((await bench.run('kinds', { kind: 'store' })).end)['answer']).toEqual({ text: 'kept' })
    })

    inLong(() => {
      it('fails when the deployment does not have its graph', async () => {
        expect((await bench.run('nope', {})).end).toMatchObject({
          kind: 'failed',
          message: 'No graph "nope" is deployed.',
        })
      })
    })
  })

  describe('an interrupt for a human', () => {
    it('interrupts and resumes with a value', async () => {
      const thread_id = randomUUID()
      const first = await bench.run('kinds', { kind: 'ask' }, {}, thread_id)
      const interrupt = expect.objectContaining({
        id: expect.any(String),
        value: { question: 'go on?' },
      }) as JsonObject
      expect(first.end).toMatchObject({ kind: 'done', state: { next: ['respond'] } })
      expect(Object.values(first.end.state?.interrupts ?? {})).toEqual([[interrupt]])
      expect(dataOf(first.items, 'values').at(-1)).toMatchObject({ __interrupt__: [interrupt] })
      const second = await bench.run('kinds', null, { command: { resume: 'yes' } }, thread_id)
      expect(stateOf(second.end)).toMatchObject({ answer: 'yes', log: ['begun', 'asked', 'finished'] })
    })

    inLong(() => {
      it('resumes parallel interrupts by their ids', async () => {
        const thread_id = randomUUID()
        const first = await bench.run('kinds', { kind: 'ask_twice' }, {}, thread_id)
        const open = dataOf(first.items, 'values').at(-1)?.['__interrupt__'] as {
          id: string
          value: string
        }[]
        expect(open.map(({ value }) => value)).toEqual(['one?', 'two?'])
        const resume = Object.fromEntries(open.map(({ id, value }) => [id, `${value} yes`]))
        const second = await bench.run('kinds', null, { command: { resume } }, thread_id)
        expect(stateOf(second.end)['log']).toEqual(['begun', 'one one? yes', 'two two? yes', 'finished'])
      })
    })

    it.each([1, 2] as const)(
      'V-13: refuses an answer to an interrupt that does not wait, names those that do, and keeps them; protocol %s',
      async (protocol) => {
        const thread_id = randomUUID()
        const first = await bench.run('kinds', { kind: 'ask' }, {}, thread_id)
        const open = dataOf(first.items, 'values').at(-1)?.['__interrupt__'] as { id: string }[]
        const [waiting, other] = [open[0]?.id ?? '', 'a'.repeat(32)]
        const kwargs = { strict_resume: true, ...(protocol === 2 && { protocol }) } as const
        const command = { resume: { [other]: 'yes' } }
        const refused = await bench.run('kinds', null, { ...kwargs, command }, thread_id)
        expect(refused.end).toMatchObject({ kind: 'failed', error: 'UnknownInterruptError' })
        expect(parse(refused.items.at(-1)?.data)).toEqual({
          error: 'UnknownInterruptError',
          message: expect.any(String) as string,
          reason: 'not_pending',
          interrupt_ids: [other],
          pending_ids: [waiting],
        })
        const resume = { [waiting]: 'yes' }
        const second = await bench.run('kinds', null, { ...kwargs, command: { resume } }, thread_id)
        expect(stateOf(second.end)).toMatchObject({ answer: 'yes' })
      },
    )

    inLong(() => {
      it('stops before and after nodes, and continues without input', async () => {
        const thread_id = randomUUID()
        const first = await bench.run(
          'kinds',
          { kind: 'plain' },
          { interrupt_before: ['respond'] },
          thread_id,
        )
        expect(first.end).toMatchObject({
          kind: 'done',
          // The value that LangGraph itself returns: it contains `__interrupt__` only in JavaScript.
          values:
            language === 'python' ? '{"messages":[],"kind":"plain","log":["begun"]}' : '{"__interrupt__":[]}',
          state: { next: ['respond'] },
        })
        const second = await bench.run('kinds', null, { interrupt_after: '*' }, thread_id)
        expect(second.end.state?.next).toEqual(['finish'])
        expect((await bench.run('kinds', null, {}, thread_id)).end.state?.next).toEqual([])
      })

      it.each([[{ log: ['updated'] }], [[['log', ['updated']]]]])(
        'applies update and goto of a command: %j',
        async (update) => {
          const thread_id = randomUUID()
          await bench.run('kinds', { kind: 'ask' }, {}, thread_id)
          const command = {
            update,
            goto: [{ node: 'piece', input: { item: 'x' } }, 'finish'],
          }
          const { end, items } = await bench.run('kinds', null, { command }, thread_id)
          // LangGraph for Python executes the interrupted node again, so the step does not end.
          const { log } = language === 'python' ? (dataOf(items, 'values').at(-1) ?? {}) : stateOf(end)
          expect(log).toEqual(expect.arrayContaining(['updated', 'piece x', 'finished']))
        },
      )
    })
  })

  describe('a fork', () => {
    it('RUN-20: continues from an earlier checkpoint, and the next run from the end of the fork', async () => {
      const thread_id = randomUUID()
      await bench.run('kinds', { kind: 'plain' }, {}, thread_id)
      const begun = (await historyOf(bench, thread_id)).find(
        ({ next }) => JSON.stringify(next) === '["respond"]',
      )
      const checkpoint = begun?.['checkpoint'] as JsonObject
      const forked = await bench.run('kinds', null, { checkpoint }, thread_id)
      expect(stateOf(forked.end)['log']).toEqual(['begun', 'answered plain', 'finished'])
      const next = await bench.run('kinds', { kind: 'plain' }, {}, thread_id)
      expect(stateOf(next.end)['log']).toHaveLength(6)
    })
  })

  describe('a later attempt', () => {
    const silent: GraphEvents = { items: () => undefined, trace: () => undefined }
    const never = new AbortController().signal

    it('RUN-10, HOST-7: continues from the last checkpoint of its run, without its input', async () => {
      const job = await bench.job('kinds', { kind: 'fail' })
      await bench.hosts.run(job, silent, never)
      const { end, items } = await bench.execute({ ...job, run: { ...job.run, attempt: 2 } })
      expect(stateOf(end)['log']).toEqual(['begun'])
      expect(parse(items[0]?.data)).toEqual({ run_id: job.run.run_id, attempt: 2 })
      expect(await historyOf(bench, job.run.thread_id)).toHaveLength(3)
    })

    inLong(() => {
      it('begins with its input when the previous attempt stored no checkpoint', async () => {
        const job = await bench.job('kinds', { kind: 'plain' })
        const { end } = await bench.execute({ ...job, run: { ...job.run, attempt: 2 } })
        expect(stateOf(end)['log']).toEqual(['begun', 'answered plain', 'finished'])
      })

      it('does not resume or fork a second time', async () => {
        const thread_id = randomUUID()
        await bench.run('kinds', { kind: 'ask' }, {}, thread_id)
        const job = await bench.job(
          'kinds',
          null,
          { command: { resume: 'yes' }, interrupt_before: ['finish'] },
          thread_id,
        )
        await bench.hosts.run(job, silent, never)
        const again = {
          ...job,
          run: { ...job.run, attempt: 2, kwargs: { ...job.run.kwargs, interrupt_before: null } },
        }
        expect(stateOf((await bench.execute(again)).end)['log']).toEqual(['begun', 'asked', 'finished'])
      })
    })
  })
})

inLong(() => {
  describe('a folder without packages of its own', () => {
    // Node by itself cannot load enums. The import is resolved from Weir's installation.
    const source = `
    import { Annotation, START, StateGraph } from '@langchain/langgraph'
    enum Said { Hello = 'hello' }
    const State = Annotation.Root({ said: Annotation<string>() })
    export default new StateGraph(State).addNode('say', () => ({ said: Said.Hello })).addEdge(START, 'say')
  `

    it('can load TypeScript graphs', async () => {
      const folder = await newFolder()
      await writeFile(join(folder, 'alone.ts'), source)
      await writeFile(join(folder, 'langgraph.json'), JSON.stringify({ graphs: { alone: 'alone.ts' } }))
      const alone = await openHostBench([], {
        file: await readDeploymentFile(join(folder, 'langgraph.json'), {}),
      })
      try {
        expect(stateOf((await alone.run('alone', { said: 'nothing' })).end)).toEqual({ said: 'hello' })
      } finally {
        await alone.stop()
      }
    })
  })
})

it('D-64: an interrupt that is too large in bytes fails its run, and the host lives', async () => {
  const folder = await newFolder()
  const source = `import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph'
    const State = Annotation.Root({ size: Annotation() })
    const ask = ({ size }) => (size === 0 ? {} : { size: interrupt('漢'.repeat(size)) })
    export default new StateGraph(State).addNode('ask', ask).addEdge(START, 'ask').compile()`
  await writeFile(join(folder, 'large.mjs'), source)
  await writeFile(join(folder, 'langgraph.json'), JSON.stringify({ graphs: { large: 'large.mjs' } }))
  const large = await openHostBench([], {
    file: await readDeploymentFile(join(folder, 'langgraph.json'), {}),
  })
  try {
    const [{ end: failed }, { end: done }] = [
      await large.run('large', { size: 400_000 }),
      await large.run('large', { size: 0 }),
    ]
    expect(failed).toMatchObject({ kind: 'failed', message: expect.stringContaining('524288 bytes') })
    expect(done).toMatchObject({ kind: 'done' })
  } finally {
    await large.stop()
  }
})
