import { afterEach, expect, it } from 'vitest'
import { type AppFixture, KEY, startApp, WORKSPACE } from '../../../../../test/support/servers/app-fixture.ts'

const RUN = '018f0000-0000-7000-8000-000000000001'
const TRACE = '018f0000-0000-7000-8000-000000000002'
const PROJECT = '018f0000-0000-7000-8000-000000000003'

let fixture: AppFixture
afterEach(() => fixture.stop())

const start = () =>
  startApp({
    selectedReads: {
      place: async (_workspace, run_id) =>
        run_id === RUN ? { run_id, trace_id: TRACE, project_id: PROJECT } : undefined,
    },
  })

async function ask(method: string, path: string, body?: unknown, key = KEY) {
  const answer = await fixture.request(`/api/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return {
    status: answer.status,
    json: (await answer.json()) as Record<string, unknown> & Record<string, unknown>[],
  }
}

/** A member, and a token of that member. */
async function member(email: string, role: string): Promise<{ id: string; key: string }> {
  const { json } = await ask('POST', '/orgs/current/members', { email, role, full_name: email.split('@')[0] })
  const id = String(json['user_id'])
  const made = await ask('POST', '/orgs/current/personal-access-tokens', {
    description: 'k',
    role,
    user_id: id,
    default_workspace_id: WORKSPACE,
  })
  return { id, key: String(made.json['key']) }
}

it('COMMENT-1: a comment has its author, and mentions members, who find it', async () => {
  fixture = await start()
  const [ada, grace] = [await member('ada@example.com', 'user'), await member('grace@example.com', 'viewer')]
  const text = 'Wrong order, @grace'
  const made = await ask('POST', `/runs/${RUN}/comments`, { text, mentions: [grace.id] }, ada.key)
  const comment = { trace_id: TRACE, run_id: RUN, text, author: 'ada', user_id: ada.id, mentions: [grace.id] }
  expect(made).toMatchObject({ status: 200, json: { ...comment, edited_at: null, is_own: true } })
  expect(await ask('GET', `/traces/${TRACE}/comments`, undefined, grace.key)).toMatchObject({
    json: [{ ...comment, is_own: false }],
  })
  expect((await ask('GET', '/comments/mentions', undefined, grace.key)).json).toHaveLength(1)
  expect((await ask('GET', '/comments/mentions', undefined, ada.key)).json).toEqual([])
  const refused = await ask('POST', `/runs/${RUN}/comments`, { text, mentions: [PROJECT] }, ada.key)
  expect(refused.status).toBe(422)
})

it('COMMENT-2: only its author changes a comment; others delete it with runs:delete', async () => {
  fixture = await start()
  const [ada, grace] = [await member('ada@example.com', 'user'), await member('grace@example.com', 'user')]
  const viewer = await member('view@example.com', 'viewer')
  const one = await ask('POST', `/runs/${RUN}/comments`, { text: 'one' }, ada.key)
  const path = `/comments/${String(one.json['id'])}`
  expect((await ask('PATCH', path, { text: 'two' }, grace.key)).status).toBe(403)
  expect((await ask('PATCH', path, { text: 'two' })).status).toBe(403)
  expect((await ask('DELETE', path, undefined, grace.key)).status).toBe(403)
  expect((await ask('POST', `/runs/${RUN}/comments`, { text: 'no' }, viewer.key)).status).toBe(403)
  const changed = await ask('PATCH', path, { text: 'two' }, ada.key)
  expect(changed).toMatchObject({ status: 200, json: { text: 'two', edited_at: expect.any(String) } })
  expect(await ask('DELETE', path)).toEqual({ status: 200, json: {} })
  expect((await ask('PATCH', path, { text: 'three' }, ada.key)).status).toBe(404)
})

it('COMMENT-1: refuses empty and long texts, and unknown runs', async () => {
  fixture = await start()
  for (const text of ['', ' \n', 'x'.repeat(10_001), 7])
    expect((await ask('POST', `/runs/${RUN}/comments`, { text })).status).toBe(422)
  expect((await ask('POST', `/runs/${TRACE}/comments`, { text: 'x' })).status).toBe(404)
})

it('COMMENT-1: a comment does not stay when its run is deleted while it is written', async () => {
  let reads = 0
  fixture = await startApp({
    selectedReads: {
      place: async (_workspace, run_id) =>
        reads++ === 0 ? { run_id, trace_id: TRACE, project_id: PROJECT } : undefined,
    },
  })
  expect((await ask('POST', `/runs/${RUN}/comments`, { text: 'late' })).status).toBe(404)
  expect((await ask('GET', `/traces/${TRACE}/comments`)).json).toEqual([])
})
