import { describe, expect, it } from 'vitest'
import { createTokenCounter, DEFAULT_TOKENS } from './budget.ts'
import { platformTools, toolServer } from './tools.ts'

const count = createTokenCounter()
const LONG = 'a name of a project or a tag that is as long as people make them, with words in it '.repeat(3)

/** The answers of routes that the tools ask, with many long names. */
async function ask(name: string): Promise<unknown> {
  const many = Array.from({ length: 100 }, (_, i) => `${LONG}${i}`)
  if (name === 'POST /runs/stats')
    return Object.fromEntries(many.slice(0, 60).map((group) => [group, { run_count: 12_345 }]))
  if (name === 'GET /sessions') return many.map((text, i) => ({ id: `${i}`, name: text }))
  return { usage: many.map((user) => ({ dimensions: { user }, traces: 1 })) }
}

async function textOf(name: string, args: Record<string, string>): Promise<string> {
  const context = { ask, count, workspace_ids: ['w'], now: 0 }
  const { content } = await toolServer(platformTools(), context, '1').call({ name, args, params: {} })
  return String(content[0]?.['text'])
}

describe('TRC-3: answers without max_tokens', () => {
  it.each([
    ['list_projects', { limit: '100', more_info: 'true' }, 'projects_left_out'],
    ['run_stats', { project_name: 'p', group_by: 'tag' }, 'groups are left out'],
    ['get_billing_usage', { starting_on: 'a', ending_before: 'b', group_by: 'user' }, '"groups_left_out":'],
  ])('%s keeps the usual budget and says what is left', async (name, args, left) => {
    const text = await textOf(name, args)
    expect(count(text)).toBeLessThanOrEqual(DEFAULT_TOKENS)
    expect(text).toContain(left)
    expect(() => JSON.parse(text) as unknown).not.toThrow()
  })

  it('get_billing_usage still has the sum of all', async () => {
    const args = { starting_on: 'a', ending_before: 'b', group_by: 'user' }
    expect(JSON.parse(await textOf('get_billing_usage', args))).toMatchObject({ traces: 100 })
  })
})

describe('TRC-2: project_name of fetch_runs', () => {
  const sessionsOf = async (project_name: string): Promise<unknown> => {
    let session: unknown
    const asked = async (name: string, input: { query?: object; body?: unknown } = {}): Promise<unknown> => {
      if (name === 'GET /sessions') return [{ id: `id of ${(input.query as { name: string }).name}` }]
      session = (input.body as { session: unknown }).session
      return { runs: [] }
    }
    const context = { ask: asked, count, workspace_ids: ['w'], now: 0 }
    await toolServer(platformTools(), context, '1').call({
      name: 'fetch_runs',
      args: { project_name },
      params: {},
    })
    return session
  }

  it.each([
    ['a', ['id of a']],
    ['["a", "b"]', ['id of a', 'id of b']],
    ['[draft]', ['id of [draft]']],
  ])('%s', async (name, ids) => {
    expect(await sessionsOf(name)).toEqual(ids)
  })
})
