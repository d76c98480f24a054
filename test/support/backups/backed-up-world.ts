import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { jsonBody, type WeirProcess } from '../servers/weir-process.ts'

const THREADS = '/deployments/d/threads'
const HOUR = 3_600_000
const PER_REQUEST = 20

/** The data that a restored server must have. */
export interface World {
  traces: string[]
  threads: string[]
  attachment: { run_id: string; text: string }
  item: Record<string, unknown>
}

/** Settings of the servers that are backed up and restored. */
export const WORLD_ENV = { GRAPHS: 'test/fixtures/run-graphs/langgraph.json', DEPLOYMENT_NAME: 'd' }

/** Sends traces, one of them with an attachment, and runs a graph on three threads. */
export async function makeWorld(weir: WeirProcess, dir: string): Promise<World> {
  const file = join(dir, 'beats')
  await writeFile(file, '')
  const threads: string[] = []
  for (let i = 0; i < 3; i++) {
    const { thread_id } = await weir.json<{ thread_id: string }>(
      THREADS,
      jsonBody('POST', { metadata: { number: i, text: 'ünï\u0001 "quoted"' } }),
    )
    const input = { file, beats: 1 }
    await weir.json(`${THREADS}/${thread_id}/runs/wait`, jsonBody('POST', { assistant_id: 'beats', input }))
    threads.push(thread_id)
  }
  const item = { namespace: ['a', 'b'], key: 'k', value: { text: 'x'.repeat(10_000) } }
  await weir.fetch('/deployments/d/store/items', jsonBody('PUT', item))
  return {
    threads,
    item,
    traces: (await sendTraces(weir, PER_REQUEST)).concat(await sendTraces(weir, 1)),
    attachment: await sendAttachment(weir),
  }
}

/** Sends traces of a root and a child in one request; resolves with their ids when they are acknowledged. */
export async function sendTraces(weir: WeirProcess, count: number): Promise<string[]> {
  const time = new Date().toISOString()
  const stamp = `${time.replace(/[-:.]/g, '').slice(0, -1)}000Z`
  const ids = Array.from({ length: count }, newUuid)
  const post = ids.flatMap((id) => {
    const child = newUuid()
    const both = {
      trace_id: id,
      run_type: 'chain',
      session_name: 'backed up',
      start_time: time,
      end_time: time,
    }
    const metadata = { tabs: 'a\tb\\n\n', quote: `it's "so"`, n: 1.5 }
    return [
      { ...both, id, name: 'root', dotted_order: `${stamp}${id}`, inputs: { a: 1 }, extra: { metadata } },
      {
        ...both,
        id: child,
        name: 'child',
        parent_run_id: id,
        dotted_order: `${stamp}${id}.${stamp}${child}`,
        outputs: { text: 'ä\u2028\u0000' },
      },
    ]
  })
  const sent = await weir.fetch('/runs/batch', jsonBody('POST', { post, patch: [] }))
  expect(sent.status, await sent.text()).toBe(202)
  return ids
}

async function sendAttachment(weir: WeirProcess): Promise<World['attachment']> {
  const id = newUuid()
  const text = 'kept in a backup'
  const form = new FormData()
  const time = '2026-11-20T09:00:00.000Z'
  const run = { id, trace_id: id, name: 'r', run_type: 'chain', session_name: 'backed up', start_time: time }
  const json = JSON.stringify({ ...run, dotted_order: `20261120T090000000000Z${id}` })
  form.set(`post.${id}`, new Blob([json], { type: 'application/json' }))
  form.set(`attachment.${id}.note`, new Blob([text], { type: `text/plain;length=${text.length}` }))
  const sent = await weir.fetch('/api/v1/runs/multipart', { method: 'POST', body: form })
  expect(sent.status).toBe(202)
  return { run_id: id, text }
}

/** Everything that a restored server must return to clients. */
export async function readWorld(weir: WeirProcess, world: World): Promise<Record<string, unknown>> {
  await weir.drained()
  const threads = await Promise.all(
    world.threads.map(async (id) => ({
      thread: await weir.json(`${THREADS}/${id}`),
      state: await weir.json(`${THREADS}/${id}/state`),
      history: await weir.json(`${THREADS}/${id}/history`, jsonBody('POST', {})),
      runs: await weir.json(`${THREADS}/${id}/runs`),
    })),
  )
  const { items } = await weir.json<{ items: unknown[] }>(
    '/deployments/d/store/items/search',
    jsonBody('POST', { namespace_prefix: ['a'] }),
  )
  const traces = await Promise.all(world.traces.map((id) => weir.json(`/api/v1/runs/${id}`)))
  const projects = await weir.json<{ id: string; name: string; start_time: string }[]>('/api/v1/sessions')
  const note = await weir.fetch(`/api/v1/runs/${world.attachment.run_id}/attachments/note`)
  return {
    threads,
    items,
    traces,
    attachment: await note.text(),
    workspaces: await weir.json('/api/v1/workspaces'),
    projects: projects.map(({ id, name, start_time }) => ({ id, name, start_time })),
    assistants: await weir.json('/deployments/d/assistants/search', jsonBody('POST', {})),
  }
}

export async function countTraces(weir: WeirProcess): Promise<{ counted: number; listed: number }> {
  await weir.drained()
  const now = Date.now()
  const range = {
    start_time: new Date(now - 30 * 24 * HOUR).toISOString(),
    end_time: new Date(now + HOUR).toISOString(),
  }
  const [workspace] = await weir.json<{ id: string }[]>('/api/v1/workspaces')
  const query = new URLSearchParams({ ...range, group_by: 'workspace', workspace_ids: workspace?.id ?? '' })
  const { usage } = await weir.json<{ usage: { traces: number }[] }>(
    `/api/v1/orgs/current/billing/granular-usage?${query.toString()}`,
  )
  let listed = 0
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await weir.json<{ runs: unknown[]; cursors: { next: string | null } }>(
      '/api/v1/runs/query',
      jsonBody('POST', {
        is_root: true,
        limit: 100,
        select: ['id'],
        ...(cursor !== undefined && { cursor }),
      }),
    )
    listed += page.runs.length
    cursor = page.cursors.next
  }
  return { counted: usage.reduce((sum, { traces }) => sum + traces, 0), listed }
}
