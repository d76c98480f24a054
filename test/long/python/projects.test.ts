import { describe, expect, it, vi } from 'vitest'
import { useDeployment } from '../../conformance/deployments/use-deployment.ts'
import { withoutPython } from '../../support/python.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Python starts slowly, once for each host.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

// Projects in the style of LangGraph's Python templates, hosted unchanged. Two more of them have twins in TypeScript,
// and run in twins.test.ts.

const WITHOUT = withoutPython()
const FORM = { type: 'object', properties: { name: {}, founded: {}, staff: {} } }

describe.skipIf(WITHOUT !== '')(`data enrichment${WITHOUT}`, () => {
  const setup = useDeployment('python-projects/enrichment-agent')

  it('searches, fills the form, and corrects it after its own check', async () => {
    const { client } = setup()
    const { thread_id } = await client.threads.create()
    const input = { topic: 'Weir', extraction_schema: FORM }
    const nodes: string[] = []
    for await (const { event, data } of client.runs.stream(thread_id, 'agent', {
      input,
      streamMode: 'updates',
    }))
      if (event === 'updates') nodes.push(...Object.keys(data))
    expect(nodes).toEqual(['call_model', 'tools', 'call_model', 'reflect', 'call_model', 'reflect'])
    const state = await client.threads.getState<{ info: object; messages: { type: string }[] }>(thread_id)
    expect(state.values.info).toEqual({ name: 'Weir', founded: '1899', staff: '12' })
    expect(state.values.messages.map(({ type }) => type)).toEqual([
      'human',
      'ai',
      'tool',
      'ai',
      'tool',
      'ai',
      'tool',
    ])
  })

  it('has schemas of its input and output, and refuses an input that does not fit', async () => {
    const { client } = setup()
    const schemas = await client.assistants.getSchemas('agent')
    expect(schemas.input_schema).toMatchObject({
      properties: { topic: { type: 'string', description: 'What to find out about.' } },
      required: ['topic', 'extraction_schema'],
    })
    expect(Object.keys(Object(schemas.output_schema?.properties) as object)).toEqual(['info'])
    const refused = await client.runs.wait(null, 'agent', { input: { topic: 7 }, raiseError: false })
    expect(refused).toMatchObject({ __error__: { error: 'ValidationError' } })
  })
})

describe.skipIf(WITHOUT !== '')(`retrieval with interrupts${WITHOUT}`, () => {
  const setup = useDeployment('python-projects/retrieval-agent')
  const config = { configurable: { user_id: 'ada' } }

  it('indexes documents, lets a human change the query, and answers from what was found', async () => {
    const { client } = setup()
    const docs = ['Owls hoot.', { page_content: 'Zebras graze.' }]
    const indexed = await client.runs.wait(null, 'indexer', { input: { docs }, config })
    expect(indexed).toEqual({ docs: [], indexed: 2 })

    const { thread_id } = await client.threads.create()
    const input = { messages: [{ role: 'user', content: 'zebras' }] }
    const asked = await client.runs.wait(thread_id, 'retrieval_graph', { input, config })
    const question = { query: 'zebras', allowed: ['accept', 'edit'] }
    expect(asked).toMatchObject({ __interrupt__: [{ value: question }] })
    const answer = async (resume: object) => {
      const said = await client.runs.wait(thread_id, 'retrieval_graph', { command: { resume }, config })
      return (said as { messages: { content: string }[] }).messages.at(-1)?.content
    }
    expect(await answer({ type: 'accept' })).toBe('Zebras graze.')
    await client.runs.wait(thread_id, 'retrieval_graph', { input, config })
    expect(await answer({ type: 'edit', query: 'who hoots, owls?' })).toBe('Owls hoot.')
    const state = await client.threads.getState<{ queries: string[] }>(thread_id)
    expect(state.values.queries).toEqual(['zebras', 'who hoots, owls?'])
    expect(state.values).toMatchObject({ retrieved_docs: [{ page_content: 'Owls hoot.', type: 'Document' }] })
  })
})
