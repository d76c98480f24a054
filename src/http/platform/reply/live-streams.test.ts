import { afterEach, beforeEach, expect, it } from 'vitest'
import { type AppFixture, startApp, WORKSPACE } from '../../../../test/support/servers/app-fixture.ts'
import type { RunChange } from '../../../ingest/live/run-changes.ts'

const [PROJECT, TRACE, RUN, OTHER] = ['1', '2', '3', '4'].map(
  (n) => `0195f3a0-0000-7000-8000-00000000000${n}`,
) as [string, string, string, string]

let fixture: AppFixture
const open: AbortController[] = []
beforeEach(async () => void (fixture = await startApp()))
afterEach(async () => {
  for (const one of open.splice(0)) one.abort()
  await fixture.stop()
})

const change = (fields: Partial<RunChange> = {}): RunChange => ({
  workspace_id: WORKSPACE,
  project_id: PROJECT,
  trace_id: TRACE,
  run_id: RUN,
  version: 1,
  is_root: false,
  status: 'pending',
  ...fields,
})
const publish = (...runs: RunChange[]): void => fixture.feed.publish({ runs, more_in: [] })

interface Event {
  event: string
  data: Record<string, unknown>
}

/** The events of a stream, one at a time; heartbeats are left out. `next` resolves with undefined at its end. */
async function follow(topic: string): Promise<{ next(): Promise<Event | undefined>; leave(): void }> {
  const gone = new AbortController()
  open.push(gone)
  const answer = await fixture.request(`/live?topic=${topic}`, { signal: gone.signal })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const next = async (): Promise<Event | undefined> => {
    for (;;) {
      const at = text.indexOf('\n\n')
      if (at >= 0) {
        const [, event = '', data = ''] = /event: (.*)\ndata: (.*)$/.exec(text.slice(0, at)) ?? []
        text = text.slice(at + 2)
        return { event, data: JSON.parse(data) as Event['data'] }
      }
      const { done, value } = await reader.read()
      if (done) return undefined
      text += value
    }
  }
  expect(await next()).toEqual({ event: 'open', data: {} })
  return { next, leave: () => gone.abort() }
}

const statuses = async (): Promise<number> => {
  const gone = new AbortController()
  open.push(gone)
  const answer = await fixture.request(`/live?topic=project:${PROJECT}`, { signal: gone.signal })
  return answer.status
}

it('sends the changes of a project or of a trace, of its own workspace only', async () => {
  const byProject = await follow(`project:${PROJECT}`)
  const byTrace = await follow(`project:${OTHER},trace:${TRACE}`)
  publish(
    change({ workspace_id: OTHER }),
    change({ project_id: OTHER, trace_id: OTHER, run_id: OTHER }),
    change({ status: 'success', version: 2 }),
  )
  const told = {
    run_id: RUN,
    trace_id: TRACE,
    project_id: PROJECT,
    version: 2,
    is_root: false,
    status: 'success',
  }
  expect(await byProject.next()).toEqual({ event: 'runs', data: { runs: [told], more: false } })
  expect(await byTrace.next()).toMatchObject({
    data: { runs: [{ run_id: OTHER }, { run_id: RUN }], more: false },
  })
})

it('sends the changes of a quarter of a second in one event, and for too many only that there are more', async () => {
  const stream = await follow(`project:${PROJECT}`)
  const started = performance.now()
  for (let at = 0; at < 600; at++) publish(change({ run_id: `run ${at}` }))
  const { data } = (await stream.next())!
  expect([(data['runs'] as unknown[]).length, data['more']]).toEqual([500, true])
  publish(change({ status: 'first' }))
  publish(change({ status: 'second', version: 2 }))
  expect(await stream.next()).toMatchObject({ data: { runs: [{ status: 'second' }], more: false } })
  expect(performance.now() - started).toBeGreaterThan(240)
  fixture.feed.publish({ runs: [], more_in: [`${WORKSPACE}/${OTHER}`, `${WORKSPACE}/${PROJECT}`] })
  expect(await stream.next()).toEqual({ event: 'runs', data: { runs: [], more: true } })
})

it('sends the health of ingest, once while it stays the same', async () => {
  const stream = await follow('ingest')
  expect(await stream.next()).toMatchObject({ event: 'ingest', data: { status: 'ok', waiting: 1 } })
})

it('N10: says that deployments have changed, once for changes that follow closely', async () => {
  const stream = await follow('deployments')
  fixture.deploymentFeed.publish()
  fixture.deploymentFeed.publish()
  expect(await stream.next()).toEqual({ event: 'deployments', data: {} })
  const other = await follow(`project:${PROJECT}`)
  fixture.deploymentFeed.publish()
  publish(change())
  expect(await other.next()).toMatchObject({ event: 'runs' })
})

it('has a limited number of streams for each key; a closed one frees its place', async () => {
  const first = await follow(`project:${PROJECT}`)
  expect([await statuses(), await statuses(), await statuses()]).toEqual([200, 200, 429])
  first.leave()
  await expect.poll(statuses).toBe(200)
})

it('ends its streams when the server stops', async () => {
  const stream = await follow(`project:${PROJECT}`)
  fixture.deps.live.close()
  expect(await stream.next()).toBeUndefined()
})

it.each([
  '',
  '?topic=',
  '?topic=project',
  '?topic=project:x',
  '?topic=run:1',
  `?topic=${'ingest,'.repeat(21)}`,
])('refuses /live%s', async (query) => {
  expect((await fixture.request(`/live${query}`)).status).toBe(422)
})

it('sends the health of ingest only to keys that may read it', async () => {
  const made = await fixture.postJson('/orgs/current/service-keys', { description: 'k', role: 'user' })
  const { key } = (await made.json()) as { key: string }
  const headers = { 'x-api-key': key }
  expect((await fixture.request('/live?topic=ingest', { headers })).status).toBe(403)
})
