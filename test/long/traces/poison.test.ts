import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { newTrace, patchParts, postParts, sendParts, type SentTrace } from '../../support/servers/load.ts'
import { jsonBody, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Tens of thousands of traces.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

/** A processor that ends its thread when it reads a certain output. */
const PROCESSOR = `export default {
  name: 'poison',
  match(side, value) {
    const text = JSON.stringify(value ?? null)
    if (text.includes('answer 3"')) process.exit(1)
    return 0
  },
  normalize: () => ({ messages: [] }),
}`
const POISON = 3

let weir: WeirProcess
let dir: Awaited<ReturnType<typeof temporaryDir>>
beforeAll(async () => {
  dir = await temporaryDir()
  const path = join(dir.dir, 'poison.mjs')
  await writeFile(path, PROCESSOR)
  weir = await startWeir(join(dir.dir, 'data'), { PROCESSORS: path })
})
afterAll(async () => {
  await weir.kill()
  await dir.remove()
})

interface Answer {
  status: string
  outputs: { messages: { content: string }[] }
  issues: { code: string }[]
}

async function send(traces: readonly SentTrace[], parts: typeof patchParts): Promise<void> {
  const { status, text } = await sendParts(weir.url, traces.flatMap(parts))
  expect(status, text).toBe(202)
}

it('a TraceRun that ends the derive thread is excluded, and no other is lost', async () => {
  const traces = Array.from({ length: 10 }, (_, n) => newTrace(n))
  await send(traces, (trace) => postParts(trace, 'poison'))
  await send(traces, patchParts)
  await weir.drained(100_000)
  const read = (id: string): Promise<Answer> => weir.json(`/runs/${id}`)
  for (const { number, llm, tool } of traces) {
    const { status, outputs, issues } = await read(llm)
    expect({ status, content: outputs.messages[0]!.content }).toEqual({
      status: 'success',
      content: `answer ${number}`,
    })
    expect(issues.map(({ code }) => code)).toEqual(number === POISON ? ['not_derived'] : [])
    expect(await read(tool)).toMatchObject({ status: 'success' })
  }
  const { runs } = await weir.json<{ runs: { status: string }[] }>(
    '/runs/query',
    jsonBody('POST', { filter: 'eq(run_type, "llm")', limit: 100 }),
  )
  expect(runs.map(({ status }) => status)).toEqual(traces.map(() => 'success'))
  const lost = weir.log.filter(({ msg }) => msg === 'worker thread lost')
  // At most once for the batch, once for each half of 30 TraceRuns that contains it, and so on, and once for the last
  // try.
  expect(lost.length).toBeLessThan(8)

  // Later fragments of the poisoned TraceRun do not end another worker thread.
  const later = newTrace(100)
  await send([later], (trace) => postParts(trace, 'poison'))
  await send([traces[POISON]!, later], patchParts)
  await weir.drained(100_000)
  expect(await read(later.llm)).toMatchObject({ status: 'success', issues: [] })
  expect(weir.log.filter(({ msg }) => msg === 'worker thread lost')).toHaveLength(lost.length)
})
