import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { GraphEnd } from '../../../../src/runs/execute/graph-host.ts'
import type { JsonObject, JsonValue } from '../../../../src/schema/json.ts'
import { type HostBench, describeHosts, TENANT } from '../../../support/runs/hosts/graph-hosts.ts'

describeHosts((open, language) => {
  let bench: HostBench
  beforeAll(async () => {
    bench = await open(['kinds'])
  })
  afterAll(() => bench.stop())

  const NOWHERE = '1f1e6354-0000-6000-8000-000000000000'

  function stateOf(end: GraphEnd): JsonObject {
    return JSON.parse(end.state?.values_json ?? 'null') as JsonObject
  }

  /** The lists of interrupts that are anywhere in a value, without empty ones. */
  function interruptsIn(value: JsonValue | undefined): JsonValue[] {
    if (Array.isArray(value)) return value.flatMap(interruptsIn)
    if (typeof value !== 'object' || value === null) return []
    return Object.entries(value).flatMap(([key, one]) => {
      const isList = ['interrupts', '__interrupt__'].includes(key) && Array.isArray(one)
      if (isList) return one.length > 0 ? [one] : []
      return interruptsIn(one)
    })
  }

  /** Starts a run that interrupts, and resumes it with this value. */
  async function answered(kind: string, resume: JsonValue): Promise<GraphEnd> {
    const thread_id = randomUUID()
    await bench.run('kinds', { kind }, {}, thread_id)
    return (await bench.run('kinds', null, { command: { resume } }, thread_id)).end
  }

  describe('an answer to an interrupt', () => {
    it.each([[false], [0], [''], [true], [{}], [[]], [{ ok: false }]])('may be %j', async (answer) => {
      const end = await answered('ask', answer)
      expect(end).toMatchObject({ kind: 'done', state: { next: [], interrupts: {} } })
      expect(stateOf(end)['answer']).toEqual(answer)
    })

    it('is used for all interrupts at the same time, where LangGraph allows that', async () => {
      const end = await answered('ask_twice', false)
      if (language === 'javascript')
        expect(stateOf(end)['log']).toEqual(['begun', 'one false', 'two false', 'finished'])
      else expect(end).toMatchObject({ kind: 'failed', message: expect.stringContaining('interrupt id') })
    })
  })

  it('V-11, V-12: an interrupt that was answered is no longer open, while others wait', async () => {
    const thread_id = randomUUID()
    const idsOf = (end: GraphEnd): string[] =>
      Object.values(end.state?.interrupts ?? {}).flatMap((of) => (of as { id: string }[]).map(({ id }) => id))
    const first = (await bench.run('kinds', { kind: 'ask_twice' }, {}, thread_id)).end
    const [one = '', two = ''] = idsOf(first)
    const resume = { [one]: 'yes' }
    const { end } = await bench.run('kinds', null, { command: { resume } }, thread_id)
    expect([end.state?.next, idsOf(end)]).toEqual([['ask_two'], [two]])
    const config = { configurable: { thread_id, checkpoint_ns: '' } }
    const about = { graph_id: 'kinds', config }
    const { body } = await bench.hosts.call(TENANT, { name: 'state', ...about, subgraphs: false })
    const { interrupts } = JSON.parse(body) as { interrupts: { id: string }[] }
    expect(interrupts.map(({ id }) => id)).toEqual([two])
  })

  it.each(['values', 'updates', 'tasks', 'debug'])(
    'an interrupt has its id and its value, and nothing else, in mode %s and in the state',
    async (mode) => {
      const { end, items } = await bench.run('kinds', { kind: 'ask' }, { stream_mode: [mode] })
      const [asked] = Object.values(end.state?.interrupts ?? {})
      expect(asked).toEqual([{ id: expect.any(String) as string, value: { question: 'go on?' } }])
      const found = items.flatMap(({ data }) => interruptsIn(JSON.parse(data) as JsonValue))
      expect(found.at(-1)).toEqual(asked)
    },
  )

  it('treats an empty id of a checkpoint as none', async () => {
    const { end } = await bench.run('kinds', { kind: 'plain' }, { checkpoint: { checkpoint_id: '' } })
    expect(end).toMatchObject({ kind: 'done', state: { next: [] } })
  })

  describe('a missing checkpoint', () => {
    const unknown = { thread_id: '', checkpoint_ns: '', checkpoint_id: NOWHERE }

    it('RUN-20: is refused as the start of a run: the thread does not change', async () => {
      const thread_id = randomUUID()
      const before = (await bench.run('kinds', { kind: 'plain' }, {}, thread_id)).end
      const { end, items } = await bench.run('kinds', { kind: 'goto' }, { checkpoint: unknown }, thread_id)
      const message = `No checkpoint "${NOWHERE}" on this thread.`
      expect(end).toMatchObject({ kind: 'failed', message, retryable: false })
      expect(items.map(({ event }) => event)).toEqual(['metadata', 'error'])
      expect(end.state).toEqual(before.state)
    })

    it('is neither read nor changed', async () => {
      const thread_id = randomUUID()
      await bench.run('kinds', { kind: 'plain' }, {}, thread_id)
      const config = { configurable: { ...unknown, thread_id } }
      const about = { graph_id: 'kinds', config }
      const none = { code: 'not_found', message: `No checkpoint "${NOWHERE}" on this thread.` }
      const read = bench.hosts.call(TENANT, { name: 'state', ...about, subgraphs: false })
      await expect(read).rejects.toMatchObject(none)
      const values = { log: ['lost'] }
      const change = bench.hosts.call(TENANT, { name: 'update_state', ...about, values, as_node: 'begin' })
      await expect(change).rejects.toMatchObject(none)
    })
  })
})
