import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import type { SchemaTypes } from '../../../src/schema/types.gen.ts'
import { eventually } from '../../support/eventually.ts'
import { startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { BOUNDARY, multipartBody } from '../../support/traces/wire-body.ts'
import { LONG_MS } from '../../support/campaign.ts'
import { useFolder } from '../../support/folder.ts'

// Each round kills a server, starts it again and waits until it has caught up.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

/** Number of TraceRuns: more than a deletion handles in one step. */
const RUNS = 6_000
const USAGE = {
  DEFAULT_ORG_FEATURE_ENABLE_GRANULAR_USAGE_REPORTING: 'true',
  GRANULAR_USAGE_TABLE_ENABLED: 'true',
}
const JSON_BODY = { 'content-type': 'application/json' }

let dir: string
let weir: WeirProcess
useFolder(async (made) => {
  dir = made
  weir = await startWeir(dir, USAGE)
})
afterAll(async () => {
  await weir.stop()
})

const post = (path: string, body: unknown): Promise<Response> =>
  weir.fetch(path, { method: 'POST', body: JSON.stringify(body), headers: JSON_BODY })

const rootOf = (session_name: string) => {
  const id = newUuid()
  return {
    id,
    trace_id: id,
    name: 'r',
    run_type: 'chain',
    session_name,
    start_time: new Date().toISOString(),
  }
}

async function countOf(session: string): Promise<number> {
  const [project] = await weir.json<SchemaTypes['session'][]>(`/sessions?id=${session}`)
  return project?.run_count ?? 0
}

async function sendAttachment(session_name: string): Promise<void> {
  const run = rootOf(session_name)
  const parts = [
    { name: `post.${run.id}`, data: JSON.stringify(run) },
    { name: `attachment.${run.id}.note`, data: session_name, type: 'text/plain' },
  ]
  const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
  const answer = await weir.fetch('/runs/multipart', { method: 'POST', body: multipartBody(parts), headers })
  expect(answer.status).toBe(202)
}

async function blobs(): Promise<string[]> {
  const files = await readdir(join(dir, 'blobs'), { recursive: true })
  return files.filter((file) => /[0-9a-f]{64}$/.test(file))
}

it('D-59: a deletion that kill -9 interrupted continues after the restart; usage counts stay', async () => {
  for (let sent = 0; sent < RUNS; sent += 1_000) {
    const runs = Array.from({ length: 1_000 }, () => rootOf('doomed'))
    expect((await post('/runs/batch', { post: runs })).status).toBe(202)
  }
  await post('/runs/batch', { post: [rootOf('spared')] })
  for (const project of ['doomed', 'spared']) await sendAttachment(project)
  await weir.drained()
  const [doomed] = await weir.json<SchemaTypes['session'][]>('/sessions?name=doomed')
  const [spared] = await weir.json<SchemaTypes['session'][]>('/sessions?name=spared')
  const id = doomed?.id ?? ''
  const [start, end] = [Date.now() - 7_200_000, Date.now() + 7_200_000].map((time) =>
    new Date(time).toISOString(),
  )
  const [workspace] = await weir.json<SchemaTypes['workspace'][]>('/workspaces')
  const query = new URLSearchParams({
    start_time: start ?? '',
    end_time: end ?? '',
    workspace_ids: workspace?.id ?? '',
    group_by: 'workspace',
  })
  const usage = async (): Promise<string> => {
    const read = await weir.fetch(`/orgs/current/billing/granular-usage?${String(query)}`)
    return await read.text()
  }
  const before = await usage()
  expect(before).toContain(String(RUNS + 3))
  const job = await weir.json<SchemaTypes['deletion-job']>(`/sessions/${id}`, { method: 'DELETE' })
  const path = `/runs/delete/${job.job_id}`
  const read = (): Promise<SchemaTypes['deletion-job']> => weir.json(path)
  await eventually(async () => expect((await read()).deleted).toBeGreaterThan(0))
  expect((await read()).status).toBe('running')
  await weir.kill()
  weir = await startWeir(dir, USAGE)
  await eventually(async () => expect(await read()).toMatchObject({ status: 'done', error: null }))
  expect((await read()).deleted).toBeGreaterThanOrEqual(RUNS)
  const left = await post('/runs/query', { session: [id] })
  expect(await left.json()).toMatchObject({ runs: [] })
  expect(await countOf(spared?.id ?? '')).toBe(2)
  expect(await blobs()).toHaveLength(1)
  expect(await usage()).toBe(before)
})
