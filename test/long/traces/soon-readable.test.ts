import { expect, it, vi } from 'vitest'
import { median, newTrace, patchParts, postParts, sendParts } from '../../support/servers/load.ts'
import { startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { temporaryDir, until } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Tens of thousands of traces.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

/** Milliseconds from an acknowledgement until `isThere` is true. */
async function timeUntil(isThere: () => Promise<boolean>): Promise<number> {
  const started = performance.now()
  await until('what was acknowledged is readable', isThere)
  return performance.now() - started
}

async function isComplete(weir: WeirProcess, id: string): Promise<boolean> {
  const answer = await weir.fetch(`/api/v1/runs/${id}`)
  if (answer.status !== 200) return false
  const { status, inputs, outputs, total_tokens } = (await answer.json()) as Record<string, unknown>
  return status === 'success' && inputs !== null && outputs !== null && total_tokens !== null
}

async function isListed(weir: WeirProcess, id: string): Promise<boolean> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
  const body = JSON.stringify({ id: [id] })
  const { runs } = await weir.json<{ runs: { status: string; total_tokens: number | null }[] }>(
    '/api/v1/runs/query',
    { ...init, body },
  )
  return runs[0]?.status === 'success' && runs[0].total_tokens !== null
}

it('acknowledged runs can be read and listed soon afterwards', async () => {
  const { dir, remove } = await temporaryDir()
  const weir = await startWeir(dir)
  try {
    const times: Record<'read' | 'listed', number[]> = { read: [], listed: [] }
    for (let i = 0; i < 10; i++) {
      const trace = newTrace(i)
      const parts = [...postParts(trace, 'soon'), ...patchParts(trace)]
      expect((await sendParts(weir.url, parts)).status).toBe(202)
      const [read, listed] = await Promise.all([
        timeUntil(() => isComplete(weir, trace.llm)),
        timeUntil(() => isListed(weir, trace.llm)),
      ])
      times.read.push(read)
      times.listed.push(listed)
    }
    for (const [what, values] of Object.entries(times)) {
      console.log(
        `${what} after acknowledgement: median ${median(values).toFixed(0)} ms, max ${Math.max(...values).toFixed(0)} ms`,
      )
    }
  } finally {
    await weir.kill()
    await remove()
  }
})
