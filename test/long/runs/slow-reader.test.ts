import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished, vi } from 'vitest'
import { withoutLinux } from '../../support/linux.ts'
import { createFrameReader } from '../../support/runs/streams/sse-frames.ts'
import { jsonBody, KEY, startWeir } from '../../support/servers/weir-process.ts'
import { LONG_MS } from '../../support/campaign.ts'
import { newFolder } from '../../support/folder.ts'

// Many runs, and values of many megabytes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const GRAPHS = fileURLToPath(new URL('../../fixtures/graphs/langgraph.json', import.meta.url))
const READERS = 60
const STEPS = 200
const STATE_BYTES = 250_000
/** Allowed growth of memory. Three gigabytes would be needed to hold the whole stream for each reader. */
const MAX_GROWTH_KB = 600 * 1024

/** The maximum memory that the process has used. */
function peakKb(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

/** Reads until the run is done. If the connection closes before that, returns the id of the last event. */
async function readToEnd(texts: AsyncIterable<string> | Iterable<string>): Promise<string> {
  const reader = createFrameReader()
  let last = '-'
  try {
    for await (const text of texts) {
      for (const { id, data } of reader.push(text)) {
        if (id !== '') last = id
        if ((data as { status?: string }).status === 'run_done') return 'done'
      }
    }
  } catch {
    // The server has closed the connection.
  }
  return last
}

const onlyLinux = withoutLinux()

it.skipIf(onlyLinux !== '')(
  `STREAM-20: clients that do not read delay no other client and need little memory${onlyLinux}`,
  async () => {
    const dataDir = await newFolder()
    const weir = await startWeir(dataDir, { GRAPHS, DEPLOYMENT_NAME: 'fixtures', DEPLOYMENT_PORT: '0' })
    onTestFinished(async () => {
      await weir.stop()
    })
    const base = '/deployments/fixtures'
    const { thread_id } = await weir.json<{ thread_id: string }>(`${base}/threads`, jsonBody('POST', {}))
    const stalled: IncomingMessage[] = []
    for (let n = 0; n < READERS; n++) {
      const asked = get(`${weir.url}${base}/threads/${thread_id}/stream`, {
        agent: false,
        headers: { 'x-api-key': KEY },
      })
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      stalled.push(answer.pause())
    }
    onTestFinished(() => stalled.forEach((answer) => answer.destroy()))
    const before = peakKb(weir.pid)
    const body = {
      assistant_id: 'tokens',
      input: { messages: [{ role: 'user', content: 'x'.repeat(STATE_BYTES) }], steps: STEPS, tokens: 1 },
      config: { recursion_limit: 10 * STEPS },
      stream_mode: 'values',
    }
    const creator = await weir.fetch(`${base}/threads/${thread_id}/runs/stream`, jsonBody('POST', body))
    const streamed = await creator.text()
    expect(streamed.length).toBeGreaterThan(STEPS * STATE_BYTES)
    expect(streamed.match(/^event: values$/gm)?.length).toBeGreaterThan(STEPS)
    const growth = peakKb(weir.pid) - before
    console.log(`${Math.round(growth / 1024)} MB more for ${READERS} readers`)
    expect(growth).toBeLessThan(MAX_GROWTH_KB)
    const [late] = stalled
    let last = await readToEnd(late?.setEncoding('utf8') ?? [])
    // A client that read nothing for a minute was disconnected. It resumes after the last event that it read.
    while (last !== 'done') {
      const again = await weir.fetch(`${base}/threads/${thread_id}/stream`, {
        headers: { 'last-event-id': last },
      })
      last = await readToEnd(again.body?.pipeThrough(new TextDecoderStream()) ?? [])
    }
  },
)
