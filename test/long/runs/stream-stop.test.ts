import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished, vi } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { readFrames, type SseFrame } from '../../support/runs/streams/sse-frames.ts'
import { jsonBody, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { LONG_MS } from '../../support/campaign.ts'
import { newFolder } from '../../support/folder.ts'

// Many runs, and values of many megabytes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const GRAPHS = fileURLToPath(new URL('../../fixtures/graphs/langgraph.json', import.meta.url))
const BASE = '/deployments/fixtures'

function start(dataDir: string): Promise<WeirProcess> {
  return startWeir(dataDir, { GRAPHS, DEPLOYMENT_NAME: 'fixtures', DEPLOYMENT_PORT: '0' })
}

/** Reads until the connection is cut. The cut must not look like the end of the stream. */
async function readToCut(answer: Response, frames: SseFrame[]): Promise<void> {
  const reading = async (): Promise<void> => {
    for await (const frame of readFrames(answer)) frames.push(frame)
  }
  await expect(reading()).rejects.toThrow(TypeError)
}

it('STREAM-19: a stop ends streams, cancels no run, and streams continue after the next start', async () => {
  const dataDir = await newFolder()
  const weir = await start(dataDir)
  const { thread_id } = await weir.json<{ thread_id: string }>(`${BASE}/threads`, jsonBody('POST', {}))
  const thread = `${BASE}/threads/${thread_id}`
  const ran = { assistant_id: 'tokens', input: { tokens: 1 } }
  await weir.json(`${thread}/runs/wait`, jsonBody('POST', ran))
  const open = await weir.fetch(`${thread}/stream`, { headers: { 'last-event-id': '-' } })
  const later = { ...ran, after_seconds: 3600, on_disconnect: 'cancel' }
  const creator = await weir.fetch(`${thread}/runs/stream`, jsonBody('POST', later))
  const run = `${BASE}${creator.headers.get('content-location')}`
  const [before, nothing]: [SseFrame[], SseFrame[]] = [[], []]
  const cut = Promise.all([readToCut(open, before), readToCut(creator, nothing)])
  await eventually(async () => expect(before.at(-1)?.data).toMatchObject({ status: 'run_done' }))
  expect(await weir.stop()).toBe(0)
  await cut
  expect([before[0]?.event, nothing]).toEqual(['metadata', []])
  const next = await start(dataDir)
  onTestFinished(async () => void (await next.stop()))
  expect(await next.json(run)).toMatchObject({ status: 'pending' })
  const last = before.at(-1)?.id ?? ''
  const resumed = await next.fetch(`${thread}/stream`, { headers: { 'last-event-id': last } })
  const location = `${BASE}${creator.headers.get('location')}`
  const rejoined = next.fetch(location).then((answer) => answer.text())
  await next.fetch(`${run}/cancel?wait=1`, { method: 'POST' })
  for await (const { data } of readFrames(resumed)) {
    expect(data).toMatchObject({ status: 'run_done', run_status: 'interrupted' })
    break
  }
  expect(await rejoined).toBe('')
})
