import type { Client } from 'langsmith'
import type { Run } from 'langsmith/schemas'
import { traceable } from 'langsmith/traceable'
import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../../../src/base/ids.ts'
import { eventually } from '../../../support/eventually.ts'
import { inLong, someInShort } from '../../../support/length.ts'
import { makeClient, readEnded, useClientSetup } from './client-setup.ts'

const setup = useClientSetup()
const PROJECT = 'reads'
const CHILDREN = 130
const FAILING = 13
const root = newUuid()
let client: Client

/** Two traces: one of a root and 130 tools, every tenth of which fails; and a root in another project. */
beforeAll(async () => {
  client = makeClient(setup())
  const traced = (name: string, rest: object) => ({
    name,
    client,
    tracingEnabled: true,
    project_name: PROJECT,
    ...rest,
  })
  const step = traceable(
    async (n: number) => {
      if (n % 10 === 3) throw new Error(`no ${n}`)
      return n
    },
    traced('step', { run_type: 'tool', tags: ['stepping'], metadata: { team: 'blue' } }),
  )
  const fan = traceable(
    async (count: number) => {
      await Promise.allSettled(Array.from({ length: count }, (_, n) => step(n)))
      return { done: count }
    },
    traced('fan', { id: root, metadata: { session_id: 'thread-7' } }),
  )
  await fan(CHILDREN)
  const other = newUuid()
  await traceable(() => 'x', traced('elsewhere', { id: other, project_name: 'other' }))()
  await readEnded(client, root)
  await readEnded(client, other)
  await eventually(async () => expect(await list({})).toHaveLength(CHILDREN + 1))
})

async function list(query: Parameters<Client['listRuns']>[0]): Promise<Run[]> {
  const runs: Run[] = []
  for await (const run of client.listRuns({ projectName: PROJECT, ...query })) runs.push(run)
  return runs
}

describe('listRuns', () => {
  it('reads all pages: each run once, newest first', async () => {
    const before = setup().proxy.requests.length
    const runs = await list({})
    const pages = setup()
      .proxy.requests.slice(before)
      .filter(({ url }) => url === '/runs/query')
    expect(pages).toHaveLength(2)
    expect(new Set(runs.map(({ id }) => id)).size).toBe(CHILDREN + 1)
    const times = runs.map(({ start_time }) => String(start_time))
    expect(times).toEqual(times.toSorted().reverse())
    expect(runs.at(-1)).toMatchObject({ id: root, name: 'fan', run_type: 'chain' })
  })

  it('returns the requested fields, inputs and outputs too', async () => {
    const [found] = await list({ isRoot: true })
    expect(found).toMatchObject({
      id: root,
      trace_id: root,
      inputs: { input: CHILDREN },
      outputs: { done: CHILDREN },
      status: 'success',
      extra: { metadata: { session_id: 'thread-7' } },
    })
    const [narrow] = await list({ isRoot: true, select: ['status'] })
    const always = ['id', 'name', 'run_type', 'start_time', 'status', 'trace_id']
    expect(
      Object.keys(narrow!)
        .filter((key) => narrow![key as 'id'] !== undefined)
        .sort(),
    ).toEqual(always)
  })

  const queries = [
    ['isRoot', { isRoot: true }, 1],
    ['runType', { runType: 'tool' }, CHILDREN],
    ['error', { error: true }, FAILING],
    ['no error', { error: false }, CHILDREN + 1 - FAILING],
    ['parentRunId', { parentRunId: root }, CHILDREN],
    ['traceId', { traceId: root }, CHILDREN + 1],
    ['id', { id: [root] }, 1],
    ['limit', { limit: 7 }, 7],
    ['limit of a whole page', { limit: 100 }, 100],
    ['startTime', { startTime: new Date(Date.now() + 86_400_000) }, 0],
    ['filter on a name', { filter: 'eq(name, "fan")' }, 1],
    ['filter with and', { filter: 'and(eq(run_type, "tool"), eq(status, "error"))' }, FAILING],
    ['filter on tags', { filter: 'has(tags, "stepping")' }, CHILDREN],
    ['filter on metadata', { filter: 'and(eq(metadata_key, "team"), eq(metadata_value, "blue"))' }, CHILDREN],
    ['filter that fits nothing', { filter: 'gt(total_tokens, 10)' }, 0],
    ['oldest first', { order: 'asc', limit: 1 }, 1],
  ] as const
  it.each(someInShort<(typeof queries)[number]>(queries, 6))('%s', async (_, query, count) => {
    const runs = await list(query as Parameters<Client['listRuns']>[0])
    expect(runs).toHaveLength(count)
    if ('order' in query) expect(runs[0]!.id).toBe(root)
  })

  inLong(() => {
    it('by project id, and by several names', async () => {
      const { id } = await client.readProject({ projectName: 'other' })
      const runs: Run[] = []
      for await (const run of client.listRuns({ projectId: id })) runs.push(run)
      expect(runs).toMatchObject([{ name: 'elsewhere', session_id: id }])
      expect(await list({ projectName: [PROJECT, 'other'], isRoot: true })).toHaveLength(2)
    })

    it('reports the error in a filter', async () => {
      await expect(list({ filter: 'eq(name' })).rejects.toThrow(/422|400/)
    })
  })
})

describe('projects', () => {
  it('exist after the first run', async () => {
    expect(await client.hasProject({ projectName: PROJECT })).toBe(true)
    expect(await client.hasProject({ projectName: 'nowhere' })).toBe(false)
    const project = await client.readProject({ projectName: PROJECT, includeStats: true })
    expect(project).toMatchObject({ name: PROJECT })
    const [found] = await list({ isRoot: true })
    expect(project.id).toBe(found!.session_id)
    expect(await client.readProject({ projectId: project.id })).toMatchObject({
      id: project.id,
      name: PROJECT,
    })
    await expect(client.readProject({ projectName: 'nowhere' })).rejects.toThrow('not found')
  })

  inLong(() => {
    it('count their runs', async () => {
      const sessions = await setup().weir.json<object[]>(`/sessions?name=${PROJECT}`)
      expect(sessions).toMatchObject([
        { run_count: CHILDREN + 1, last_run_start_time: expect.any(String) as string },
      ])
    })

    it('are created, created again, changed and listed', async () => {
      const description = 'made by hand'
      const made = await client.createProject({ projectName: 'by-hand', description, metadata: { a: 1 } })
      expect(made).toMatchObject({ name: 'by-hand', description, extra: { metadata: { a: 1 } } })
      await expect(client.createProject({ projectName: 'by-hand' })).rejects.toThrow(/409|already exists/i)
      const again = await client.createProject({ projectName: 'by-hand', upsert: true })
      expect(again.id).toBe(made.id)
      const changed = await client.updateProject(made.id, { name: 'renamed' })
      expect(changed).toMatchObject({ id: made.id, name: 'renamed', description })
      const names: string[] = []
      for await (const { name } of client.listProjects()) names.push(String(name))
      expect(names.toSorted()).toEqual(['other', PROJECT, 'renamed'])
    })

    it('receive the runs that are sent to a project created before', async () => {
      const { id: project } = await client.createProject({ projectName: 'before' })
      const id = newUuid()
      await traceable(() => 1, { id, name: 'late', client, tracingEnabled: true, project_name: 'before' })()
      expect((await readEnded(client, id)).session_id).toBe(project)
    })
  })
})

describe('feedback', () => {
  it('is returned as it was sent', async () => {
    const { id: sessionId } = await client.readProject({ projectName: PROJECT })
    const given = await client.createFeedback(root, 'user_score', {
      score: 0.5,
      value: 'fair',
      comment: 'could be better',
      correction: { answer: 42 },
      sourceInfo: { page: 'chat' },
      sessionId,
    })
    await client.createFeedback(root, 'correctness', { score: true, feedbackSourceType: 'model', sessionId })
    const read = async (rest: object = {}): Promise<object[]> => {
      const found: object[] = []
      for await (const feedback of client.listFeedback({ runIds: [root], ...rest })) found.push(feedback)
      return found
    }
    await eventually(async () => expect(await read()).toHaveLength(2))
    expect(await read({ feedbackKeys: ['user_score'] })).toMatchObject([
      {
        id: given.id,
        run_id: root,
        key: 'user_score',
        score: 0.5,
        value: 'fair',
        comment: 'could be better',
        correction: { answer: 42 },
        feedback_source: { type: 'api', metadata: { page: 'chat' } },
      },
    ])
    expect(await read({ feedbackSourceTypes: ['model'] })).toMatchObject([{ key: 'correctness' }])
  })
})
