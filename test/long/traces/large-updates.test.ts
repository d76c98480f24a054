import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { jsonPart, sendParts } from '../../support/servers/load.ts'
import { largeText, peakMemory, sendLargeUpdates } from '../../support/faults/large-updates.ts'
import { startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Tens of thousands of traces.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const UPDATES = 20
const MEGABYTES = 30

let weir: WeirProcess
let dir: Awaited<ReturnType<typeof temporaryDir>>
beforeAll(async () => {
  dir = await temporaryDir()
  weir = await startWeir(dir.dir)
})
afterAll(async () => {
  await weir.kill()
  await dir.remove()
})

interface Answer {
  inputs: { messages: { content: string }[] }
  outputs: { messages: { content: string }[] }
  extra: { metadata: Record<string, unknown> }
  status: string
  total_tokens: number
  issues: unknown[]
}

it(`one TraceRun updated ${UPDATES} times with ${MEGABYTES} MB is complete, and no process grew by 2 GB`, async () => {
  const engine = await weir.enginePid()
  const idle = [await peakMemory(weir.pid), await peakMemory(engine)] as const
  const started = performance.now()
  const sent = await sendLargeUpdates(weir, UPDATES, MEGABYTES)
  const acknowledged = performance.now()
  await weir.drained(10 * 60_000)
  const stored = performance.now()
  const whileStored = await peakMemory(weir.pid)
  const found = await weir.json<Answer>(`/runs/${sent.id}`)
  const read = performance.now()
  const peak = [await peakMemory(weir.pid), await peakMemory(engine)] as const
  console.log(
    JSON.stringify({
      sent_mb: Math.round(sent.sent / 1024 / 1024),
      acknowledged_ms: Math.round(acknowledged - started),
      stored_ms: Math.round(stored - started),
      read_ms: Math.round(read - stored),
      idle_mb: idle.map(Math.round),
      stored_mb: Math.round(whileStored),
      peak_mb: peak.map(Math.round),
    }),
  )
  // Not toBe, which would print a difference of 30 MB.
  expect(found.outputs.messages[0]!.content === sent.outputs).toBe(true)
  expect(found.inputs.messages[0]!.content === sent.inputs).toBe(true)
  expect(Object.keys(found.extra.metadata)).toHaveLength(2 + UPDATES)
  expect(found).toMatchObject({ status: 'success', total_tokens: 15, issues: [] })
  expect(peak[0] - idle[0]).toBeLessThan(2048)
  expect(peak[1] - idle[1]).toBeLessThan(2048)
  expect(weir.log.filter(({ level }) => level === 'error')).toEqual([])
})

it('a TraceRun as large as one request may be is stored, derived again, and read', async () => {
  const id = randomUUID()
  const fields = Object.fromEntries(
    ['inputs', 'outputs', 'events', 'serialized'].map((field) => [field, { text: largeText(48) }]),
  )
  const start_time = new Date().toISOString()
  const parts = Object.entries(fields).map(([field, value]) =>
    jsonPart(`post.${id}.${field}`, field === 'events' ? [value] : value),
  )
  const sent = await sendParts(weir.url, [
    jsonPart(`post.${id}`, { id, name: 'largest', run_type: 'chain', start_time }),
    ...parts,
  ])
  expect(sent.status, sent.text).toBe(202)
  await weir.drained(5 * 60_000)
  await sendParts(weir.url, [jsonPart(`patch.${id}`, { id, end_time: new Date().toISOString() })])
  await weir.drained(5 * 60_000)
  const found = await weir.json<Record<string, { text: string } | { text: string }[]>>(`/runs/${id}`)
  expect(found).toMatchObject({ status: 'success', issues: [] })
  for (const [field, { text }] of Object.entries(fields)) {
    const [value] = [found[field]!].flat()
    expect(value!.text === text, field).toBe(true)
  }
})
