import { randomUUID } from 'node:crypto'
import type { Assistant } from '@langchain/langgraph-sdk'
import { describe, expect, it } from 'vitest'
import { nextMillisecond } from '../../../support/eventually.ts'
import { refusal, useDeployment } from '../../deployments/use-deployment.ts'

const NOWHERE = 'a5a5a5a5-0000-4000-8000-000000000000'

const setup = useDeployment()

function assistants() {
  return setup().client.assistants
}

/** A new assistant, created later than all others, with metadata by which only this one is found. */
async function make(mark: string, more: object = {}): Promise<Assistant> {
  await nextMillisecond()
  return await assistants().create({ graphId: 'tokens', metadata: { mark }, ...more })
}

describe('assistants of the SDK', () => {
  it('RUN-26: exist for each graph, by id and by name', async () => {
    const found = await assistants().search({
      metadata: { created_by: 'system' },
      sortBy: 'name',
      sortOrder: 'asc',
      limit: 100,
    })
    const names = found.map(({ name }) => name)
    // The project of the Python twins has further graphs.
    expect(names).toEqual(
      expect.arrayContaining([
        'echo',
        'factory',
        'hostile',
        'kinds',
        'talking',
        'tokens',
        'unstorable',
        'wide',
      ]),
    )
    const kinds = await assistants().get('kinds')
    expect(kinds).toMatchObject({
      graph_id: 'kinds',
      version: 1,
      name: 'kinds',
      description: 'Interrupts, tools, subgraphs, sends.',
      config: {},
      context: {},
      metadata: { created_by: 'system' },
    })
    expect(await assistants().get(kinds.assistant_id)).toEqual(kinds)
  })

  it('are created with defaults, or with the given fields', async () => {
    const plain = await assistants().create({ graphId: 'tokens' })
    expect(plain).toMatchObject({ name: 'Untitled', description: null, version: 1, config: {}, metadata: {} })
    const assistantId = randomUUID()
    const given = {
      graphId: 'tokens',
      assistantId,
      name: 'Mine',
      description: 'Of my own',
      config: { tags: ['t'], configurable: { flavour: 'sweet' } },
      context: { tone: 'dry' },
      metadata: { a: 1 },
    }
    const made = await assistants().create(given)
    const { graphId: graph_id, assistantId: assistant_id, ...rest } = given
    expect(made).toMatchObject({ graph_id, assistant_id, ...rest, version: 1 })
    expect(await assistants().get(assistantId)).toEqual(made)
    expect(new Date(made.created_at).toISOString()).toBe(made.created_at)
  })

  it('are refused when the id is taken, unless the request allows it', async () => {
    const { assistant_id } = await make('taken', { name: 'first' })
    const again = { graphId: 'tokens', assistantId: assistant_id, name: 'second' }
    expect(await refusal(assistants().create({ ...again, ifExists: 'raise' }))).toEqual({
      status: 409,
      detail: 'Assistant already exists',
      code: 'conflict',
    })
    expect(await refusal(assistants().create(again))).toMatchObject({ status: 409 })
    expect(await assistants().create({ ...again, ifExists: 'do_nothing' })).toMatchObject({ name: 'first' })
  })

  it('need an existing graph and a valid id', async () => {
    expect(await refusal(assistants().create({ graphId: 'nope' }))).toMatchObject({
      status: 404,
      code: 'not_found',
    })
    const { assistant_id } = await make('graph')
    expect(await refusal(assistants().update(assistant_id, { graphId: 'nope' }))).toMatchObject({
      status: 404,
    })
    expect(await refusal(assistants().create({ graphId: 'tokens', assistantId: 'x' }))).toMatchObject({
      status: 422,
    })
    const missing = { status: 404, detail: 'Assistant not found', code: 'not_found' }
    for (const id of [NOWHERE, 'nope', '%00']) expect(await refusal(assistants().get(id))).toEqual(missing)
    expect(await refusal(assistants().update(NOWHERE, { name: 'x' }))).toEqual(missing)
    expect(await refusal(assistants().delete(NOWHERE))).toEqual(missing)
    expect(await refusal(assistants().getVersions(NOWHERE))).toEqual(missing)
    expect(await refusal(assistants().setLatest(NOWHERE, 1))).toMatchObject({ status: 404 })
    expect(await refusal(assistants().getSchemas(NOWHERE))).toEqual(missing)
  })

  it('RUN-27: have versions, each of which can be made current', async () => {
    const { assistant_id, created_at } = await make('versions', {
      name: 'one',
      config: { recursion_limit: 5 },
    })
    const second = await assistants().update(assistant_id, {
      name: 'two',
      graphId: 'kinds',
      metadata: { more: true },
      context: { b: 2 },
    })
    expect(second).toMatchObject({
      version: 2,
      name: 'two',
      graph_id: 'kinds',
      config: { recursion_limit: 5 },
      context: { b: 2 },
      metadata: { mark: 'versions', more: true },
      created_at,
    })
    const versions = (await assistants().getVersions(assistant_id)) as Assistant[]
    expect(versions.map(({ version, name }) => [version, name])).toEqual([
      [2, 'two'],
      [1, 'one'],
    ])
    expect(await assistants().getVersions(assistant_id, { metadata: { more: true } })).toHaveLength(1)
    expect(await assistants().getVersions(assistant_id, { limit: 1, offset: 1 })).toMatchObject([
      { version: 1 },
    ])
    const back = await assistants().setLatest(assistant_id, 1)
    expect(back).toMatchObject({ version: 1, name: 'one', graph_id: 'tokens', context: {} })
    expect(await assistants().get(assistant_id)).toEqual(back)
    expect(await refusal(assistants().setLatest(assistant_id, 3))).toMatchObject({ status: 404 })
    expect(await assistants().update(assistant_id, { name: 'three' })).toMatchObject({ version: 3 })
  })

  it('RUN-4: are found by graph, part of the name and metadata, in pages', async () => {
    const metadata = { mark: 'pages' }
    for (const name of ['Blue one', 'blue two', 'red']) await make('pages', { name })
    await make('pages', { name: 'blue kinds', graphId: 'kinds' })
    expect(await assistants().count({ metadata })).toBe(4)
    expect(await assistants().count({ metadata, graphId: 'tokens', name: 'BLUE' })).toBe(2)
    expect(await assistants().count({ metadata: { mark: 'none' } })).toBe(0)
    const page = { metadata, limit: 3, includePagination: true as const }
    const first = await assistants().search(page)
    expect(first.assistants.map(({ name }) => name)).toEqual(['blue kinds', 'red', 'blue two'])
    expect(first.next).toBe('3')
    const last = await assistants().search({ ...page, offset: 3 })
    expect(last).toMatchObject({ assistants: [{ name: 'Blue one' }], next: null })
    const names = await assistants().search({ metadata, sortBy: 'name', sortOrder: 'asc', select: ['name'] })
    expect(names).toEqual(['Blue one', 'blue kinds', 'blue two', 'red'].map((name) => ({ name })))
  })

  it('RUN-28: are deleted, with their threads if requested', async () => {
    const { client } = setup()
    const { assistant_id } = await make('gone')
    await client.crons.create(assistant_id, { schedule: '0 0 1 1 *' })
    const thread = await client.threads.create({ metadata: { assistant_id } })
    const other = await client.threads.create()
    await assistants().delete(assistant_id, { deleteThreads: true })
    expect(await refusal(assistants().get(assistant_id))).toMatchObject({ status: 404 })
    expect(await refusal(client.threads.get(thread.thread_id))).toMatchObject({ status: 404 })
    expect(await client.threads.get(other.thread_id)).toMatchObject({ thread_id: other.thread_id })
    expect(await client.crons.count({ assistantId: assistant_id })).toBe(0)
    const kept = await make('kept')
    const its = await client.threads.create({ metadata: { assistant_id: kept.assistant_id } })
    await assistants().delete(kept.assistant_id)
    expect(await client.threads.get(its.thread_id)).toMatchObject({ thread_id: its.thread_id })
  })

  it('RUN-26: always include the default one of each graph', async () => {
    const before = await assistants().get('hostile')
    await assistants().update(before.assistant_id, { name: 'changed' })
    await assistants().delete(before.assistant_id)
    expect(await assistants().get('hostile')).toMatchObject({
      assistant_id: before.assistant_id,
      name: 'hostile',
      version: 1,
    })
  })
})

describe('graphs of assistants', () => {
  it('are returned for drawing, with the content of subgraphs if requested', async () => {
    const { nodes, edges } = await assistants().getGraph('kinds')
    const ids = nodes.map(({ id }) => id)
    expect(ids).toEqual(expect.arrayContaining(['__start__', 'begin', 'nested', 'finish', '__end__']))
    expect(edges).toContainEqual(expect.objectContaining({ source: 'nested', target: 'finish' }))
    for (const xray of [true, 1]) {
      const inside = await assistants().getGraph('kinds', { xray })
      expect(inside.nodes.map(({ id }) => id)).toContain('nested:first')
    }
    const refused = await setup().request('/assistants/kinds/graph?xray=-1')
    expect(refused.status).toBe(422)
  })

  it('have schemas', async () => {
    const schemas = await assistants().getSchemas('tokens')
    expect(schemas).toMatchObject({
      graph_id: 'tokens',
      input_schema: { properties: { messages: {}, sleep: {} } },
      state_schema: { properties: { done: {} } },
    })
    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining(['output_schema', 'config_schema', 'context_schema']),
    )
  })

  it('have subgraphs', async () => {
    const all = await assistants().getSubgraphs('kinds')
    expect(Object.keys(all)).toEqual(['nested'])
    expect(all['nested']).toMatchObject({ state_schema: { properties: { log: {} } } })
    expect(
      Object.keys(await assistants().getSubgraphs('kinds', { namespace: 'nested', recurse: true })),
    ).toEqual(['nested'])
    expect(await refusal(assistants().getSubgraphs('kinds', { namespace: 'none' }))).toMatchObject({
      status: 404,
    })
    expect(await assistants().getSubgraphs('tokens')).toEqual({})
  })

  it('that are factories receive the config of the assistant', async () => {
    const config = { configurable: { flavour: 'sweet' } }
    const { assistant_id } = await make('factory', { graphId: 'factory', config })
    const nodesOf = async (id: string) => (await assistants().getGraph(id)).nodes.map(({ id: node }) => node)
    expect(await nodesOf(assistant_id)).toContain('sweet')
    expect(await nodesOf('factory')).toContain('plain')
  })
})
