import { expect, it } from 'vitest'
import { doneWith } from '../../test/support/runs/hosts/fake-graph-host.ts'
import { openRunWorld, staying } from '../../test/support/runs/world.ts'
import { readableConfig } from './shared-context.ts'

const GRAPH = { graph_id: 'agent', description: null, config: {}, context: {}, unavailable: null }
const ASSISTANT = {
  graph_id: 'agent',
  config: { tags: ['t'], configurable: { model: 'small', tone: 'dry' } },
  context: { model: 'large', user: 'x' },
}

it('RUN-37: a factory of Python that makes a graph to read it gets the context of the assistant as configurable', () => {
  const configurable = { model: 'large', tone: 'dry', user: 'x' }
  const python = [{ ...GRAPH, language: 'python' as const }]
  expect(readableConfig(ASSISTANT, python)).toEqual({ tags: ['t'], configurable })
  const javascript = [{ ...GRAPH, language: 'javascript' as const }]
  expect(readableConfig(ASSISTANT, javascript)).toEqual(ASSISTANT.config)
})

it('RUN-37: so does one that makes a graph to read the state of a thread', async () => {
  const { threads, runs, call, fake, thread } = await openRunWorld({ context: { user: 'x' } })
  const [graph] = fake.host.graphs()
  fake.host.graphs = () => [{ ...graph!, language: 'python' }]
  const thread_id = await thread()
  fake.play((job) => job.end(doneWith({})))
  const { result } = await runs.wait(call, thread_id, { assistant_id: 'agent', input: null }, staying())
  await result
  const asked: unknown[] = []
  fake.answers = (_name, question) => {
    asked.push('made_with' in question && question.made_with)
    return { body: '{}' }
  }
  await threads.state(call, thread_id, { subgraphs: false })
  expect(asked).toMatchObject([{ configurable: { user: 'x' } }])
})
