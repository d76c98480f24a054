import { Client } from 'langsmith-latest'
import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { PUBLIC_RUN_SELECTS } from '../../../src/trace/json/selected-run.ts'
import { eventually } from '../../support/eventually.ts'
import { drained } from '../../support/servers/server.ts'
import { BOUNDARY, multipartBody } from '../../support/traces/wire-body.ts'
import { useClientSetup } from './js/client-setup.ts'
import { inLong } from '../../support/length.ts'
import { jsonBody } from '../../support/servers/weir-process.ts'

const setup = useClientSetup()
const PROJECT = 'shared'
const THREAD = 't/1 "x"'
/** The second trace is in the same thread as the first, the third in none. */
const [first, second, other] = Array.from({ length: 3 }, () => ({ root: newUuid(), child: newUuid() })) as [
  Ids,
  Ids,
  Ids,
]
let client: Client
let project_id = ''

interface Ids {
  root: string
  child: string
}

function parts({ root, child }: Ids, thread_id: string | undefined): Parameters<typeof multipartBody>[0] {
  const start_time = new Date().toISOString()
  const stamp = start_time.replaceAll(/[-:.]/g, '').replace('Z', '000Z')
  const shared = {
    session_name: PROJECT,
    trace_id: root,
    run_type: 'chain',
    start_time,
    end_time: start_time,
  }
  const metadata = thread_id === undefined ? {} : { thread_id }
  const run = {
    ...shared,
    id: root,
    name: 'root',
    inputs: { question: 'why?' },
    extra: { metadata },
    dotted_order: `${stamp}${root}`,
  }
  const below = {
    ...shared,
    id: child,
    parent_run_id: root,
    name: 'child',
    inputs: {},
    dotted_order: `${stamp}${root}.${stamp}${child}`,
  }
  return [
    { name: `post.${root}`, data: JSON.stringify(run) },
    { name: `attachment.${root}.a note`, data: 'noted', type: 'text/plain' },
    { name: `post.${child}`, data: JSON.stringify(below) },
  ]
}

beforeAll(async () => {
  const { weir, proxy } = setup()
  client = new Client({ apiUrl: proxy.url, apiKey: weir.key })
  const sent = await weir.request('/api/v1/runs/multipart', {
    method: 'POST',
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    body: Uint8Array.from(
      multipartBody([...parts(first, THREAD), ...parts(second, THREAD), ...parts(other, undefined)]),
    ),
  })
  expect(sent.status).toBe(202)
  await drained(weir)
  await eventually(async () => {
    const ids = [first, second, other].flatMap(({ root, child }) => [root, child])
    const found = await post<{ runs: unknown[] }>('/api/v1/runs/query', { id: ids })
    expect(found.runs).toHaveLength(6)
  })
  const [project] = await weir.json<{ id: string }[]>(`/api/v1/sessions?name=${PROJECT}`)
  project_id = project!.id
})

function post<T>(path: string, body: object): Promise<T> {
  return setup().weir.json<T>(path, jsonBody('POST', body))
}

/** Makes a request without a key. */
async function openly(path: string, body?: object): Promise<{ status: number; text: string }> {
  const init = body && jsonBody('POST', body)
  const answer = await fetch(setup().weir.url + path, init)
  return { status: answer.status, text: await answer.text() }
}

const shareUrl = async (): Promise<string | null | undefined> =>
  (await client.runs.retrieve(first.child, { project_id, selects: ['SHARE_URL'] })).share_url

describe('a shared trace (SHARE-1 to SHARE-3)', () => {
  it('S-21, S-28: has one token, whichever of its runs is shared and over which API', async () => {
    expect(await shareUrl()).toBeNull()
    const body = { session_id: project_id, trace_id: first.root }
    const { share_token } = await client.runs.share.create(first.child, body)
    expect(await client.runs.share.create(first.root, body)).toEqual({ share_token })
    const link = await client.shareRun(first.root)
    expect(link).toMatch(new RegExp(`/public/${share_token}/r$`))
    expect(await client.readRunSharedLink(first.child)).toBe(link)
    expect(await shareUrl()).toBe(`${setup().proxy.url}/public/${share_token}/r`)
  })

  it('S-2, SHARE-2: can be read with the token alone, with the fields of public reads', async () => {
    const { share_token = '' } = await client.runs.share.create(first.root, {
      session_id: project_id,
      trace_id: first.root,
    })
    const stranger = new Client({ apiUrl: setup().proxy.url, apiKey: 'lsv2_pt_nobody' })
    const all = await stranger.public.runs.query(share_token, { selects: ['ID', 'PARENT_RUN_ID'] })
    expect(all.items).toHaveLength(2)
    expect(all.items).toEqual(
      expect.arrayContaining([
        { id: first.root, parent_run_id: null },
        { id: first.child, parent_run_id: first.root },
      ]),
    )
    const run = await stranger.public.runs.retrieve(first.root, {
      share_token,
      selects: PUBLIC_RUN_SELECTS,
      start_time: new Date().toISOString(),
    })
    expect(Object.keys(run).toSorted()).toEqual(PUBLIC_RUN_SELECTS.map((one) => one.toLowerCase()).toSorted())
    expect(run).toMatchObject({ name: 'root', inputs_preview: expect.stringContaining('why?') })
    expect((await openly(`/v2/public/${share_token}/runs/query`, { selects: ['INPUTS'] })).status).toBe(422)

    expect(JSON.parse((await openly(`/api/v1/public/${share_token}/run`)).text)).toMatchObject({
      id: first.root,
      inputs: { question: 'why?' },
    })
    const { runs } = JSON.parse((await openly(`/public/${share_token}/runs/query`, {})).text) as {
      runs: { id: string }[]
    }
    expect(runs.map(({ id }) => id).toSorted()).toEqual([first.root, first.child].toSorted())
    const headers = { 'content-type': 'application/json', 'user-agent': 'langsmith-py/0.11.1' }
    const path = `${setup().weir.url}/public/${share_token}/runs/query`
    const old = await fetch(path, { method: 'POST', headers, body: '{}' })
    for (const run of ((await old.json()) as { runs: { start_time: string }[] }).runs)
      expect(run.start_time).toMatch(/\d$/)
  })

  it('SHARE-7: ends at the time that was asked for, and says so to its readers', async () => {
    const path = `/api/v1/runs/${second.root}/share`
    const share = (expires_at: string | null) => setup().weir.request(path, jsonBody('PUT', { expires_at }))
    expect((await share(new Date(Date.now() - 1).toISOString())).status).toBe(422)
    const expires_at = new Date(Date.now() + 3600_000).toISOString()
    const { share_token, ...made } = (await (await share(expires_at)).json()) as Record<string, string>
    expect(made).toEqual({ expires_at })
    expect(await setup().weir.json(path)).toEqual({ run_id: second.root, share_token, expires_at })
    await share(new Date(Date.now() + 300).toISOString())
    await eventually(async () => {
      const { status, text } = await openly(`/public/${share_token}/run`)
      expect([status, JSON.parse(text)]).toMatchObject([404, { code: 'share_ended' }])
    })
    expect(await client.shareRun(second.root)).not.toContain(share_token)
    await client.unshareRun(second.root)
  })

  it('is the only trace that its token gives access to', async () => {
    const { share_token } = await client.runs.share.create(first.root, {
      session_id: project_id,
      trace_id: first.root,
    })
    for (const { root, child } of [second, other]) {
      for (const id of [root, child]) {
        expect((await openly(`/public/${share_token}/run/${id}`)).status).toBe(404)
        expect((await openly(`/v2/public/${share_token}/run/${id}?selects=ID`)).status).toBe(404)
        const listed = await openly(`/public/${share_token}/runs/query`, { id: [id] })
        expect(JSON.parse(listed.text)).toMatchObject({ runs: [] })
      }
    }
    const asKey = { headers: { 'x-api-key': share_token ?? '' } }
    expect((await fetch(`${setup().weir.url}/api/v1/runs/${first.root}`, asKey)).status).toBe(401)
    expect((await openly(`/public/${newUuid()}/run`)).status).toBe(404)
  })

  inLong(() => {
    it('S-28: is not shared any more once the share was deleted, which can be repeated', async () => {
      const body = { session_id: project_id, trace_id: first.root }
      const { share_token } = await client.runs.share.create(first.root, body)
      await client.runs.share.delete(first.root, { session_id: project_id })
      await client.runs.share.delete(first.root, { session_id: project_id })
      await client.unshareRun(first.child)
      expect(await client.readRunSharedLink(first.root)).toBeUndefined()
      expect((await openly(`/public/${share_token}/run`)).status).toBe(404)
      const again = await client.runs.share.create(first.root, body)
      expect(again.share_token).not.toBe(share_token)
    })

    it('uses the token of the client, unless it is taken', async () => {
      const shareId = newUuid()
      expect(await client.shareRun(second.root, { shareId })).toContain(shareId)
      expect(await client.shareRun(other.root, { shareId })).not.toContain(shareId)
      await client.unshareRun(second.root)
      await client.unshareRun(other.root)
    })

    it('404 for another project, another trace and an unknown run', async () => {
      const share = (id: string, session_id: string, trace_id: string) =>
        client.runs.share.create(id, { session_id, trace_id })
      await expect(share(first.root, newUuid(), first.root)).rejects.toThrow('404')
      await expect(share(first.root, project_id, second.root)).rejects.toThrow('404')
      await expect(share(newUuid(), project_id, first.root)).rejects.toThrow('404')
    })
  })
})

describe('a shared thread (SHARE-4)', () => {
  it('S-28: gives access to the traces of the thread and no others', async () => {
    expect(await client.threads.share.retrieve(THREAD, { project_id })).toEqual({})
    const { share_token = '' } = await client.threads.share.create(THREAD, { project_id })
    expect(await client.threads.share.create(THREAD, { project_id })).toEqual({ share_token })
    expect(await client.threads.share.retrieve(THREAD, { project_id })).toEqual({ share_token })
    const { items } = await client.public.runs.query(share_token, { selects: ['ID'] })
    expect(items?.map(({ id }) => id).toSorted()).toEqual(
      [first, second].flatMap(({ root, child }) => [root, child]).toSorted(),
    )
    expect((await openly(`/public/${share_token}/run/${second.child}`)).status).toBe(200)
    expect((await openly(`/public/${share_token}/run/${other.root}`)).status).toBe(404)
    expect((await openly(`/public/${share_token}/run`)).status).toBe(404)
    await client.threads.share.delete(THREAD, { project_id })
    expect((await openly(`/public/${share_token}/run/${second.child}`)).status).toBe(404)
    await expect(client.threads.share.create('no such thread', { project_id })).rejects.toThrow('404')
  })
})

inLong(() => {
  describe('links to attachments (SHARE-5)', () => {
    it('S-21: need no key, and are valid for one attachment', async () => {
      const { attachments } = await client.runs.retrieve(first.root, { project_id, selects: ['ATTACHMENTS'] })
      const link = new URL((attachments as Record<string, string>)['a note']!)
      const answer = await fetch(link)
      expect([answer.status, await answer.text()]).toEqual([200, 'noted'])
      const status = async (change: (url: URL) => void): Promise<number> => {
        const changed = new URL(link)
        change(changed)
        return (await fetch(changed)).status
      }
      expect(await status((url) => url.searchParams.set('expires', String(Date.now() + 1e9)))).toBe(404)
      expect(await status((url) => url.searchParams.set('signature', '0'.repeat(64)))).toBe(404)
      expect(await status((url) => (url.pathname = url.pathname.replace(first.root, second.root)))).toBe(404)
      const none = await client.runs.retrieve(first.child, { project_id, selects: ['ATTACHMENTS'] })
      expect(none).toEqual({ attachments: {} })
    })
  })
})

inLong(() => {
  it('SHARE-6: a deleted trace is not shared any more; who shared it is in the audit', async () => {
    const { weir } = setup()
    const body = { session_id: project_id, trace_id: other.root }
    const { share_token } = await client.runs.share.create(other.root, body)
    expect((await openly(`/public/${share_token}/run`)).status).toBe(200)
    const deleted = await weir.request(`/api/v1/traces/${other.root}`, { method: 'DELETE' })
    expect(deleted.status).toBe(202)
    expect((await openly(`/public/${share_token}/run`)).status).toBe(404)
    const audit = await weir.request('/api/v1/orgs/current/audit-logs')
    const text = await audit.text()
    expect(text).toContain('"trace.share"')
    expect(text).toContain('"thread.unshare"')
    expect(text).not.toContain(share_token)
  })
})
