import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { hostileServer } from '../../support/faults/hostile-server.ts'
import { jsonPart, median } from '../../support/servers/load.ts'
import { LONG_MS } from '../../support/campaign.ts'

// A server starts, and gets bodies of many megabytes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const server = hostileServer()
const MB = 1024 * 1024

function random(ranges: [number, number], bytesEach: number): string {
  const [from, to] = ranges
  const count = Math.floor(MB / bytesEach)
  return Array.from({ length: count }, () =>
    String.fromCodePoint(from + Math.floor(Math.random() * (to - from))),
  ).join('')
}

const TEXTS: [string, () => string][] = [
  ['a', () => 'a'.repeat(MB)],
  ['spaces', () => ' '.repeat(MB)],
  ['newlines', () => '\n'.repeat(MB)],
  ['random CJK', () => random([0x4e00, 0x9fff], 3)],
  ['emoji', () => random([0x1f300, 0x1f64f], 4)],
  ['base64', () => randomBytes((MB / 4) * 3).toString('base64')],
  ['digits', () => random([0x30, 0x39], 1)],
  ['a and spaces', () => 'a '.repeat(MB / 2)],
  ['punctuation', () => random([0x21, 0x2f], 1)],
  ['one combining mark', () => '\u0301'.repeat(MB / 2)],
]

/** Calls /info until `done` is settled; resolves with the milliseconds of each call. */
async function watch(done: Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  let over = false
  void done.finally(() => {
    over = true
  })
  while (!over) {
    const started = performance.now()
    await (await server.weir().fetch('/info')).arrayBuffer()
    times.push(performance.now() - started)
    await delay(5)
  }
  return times
}

/** For this many milliseconds, calls of /info are timed while the server has no work. */
const CALM_MS = 300
/** The median of calls of /info during the work may be this much longer, in milliseconds. */
const SLOWER_MS = 50

describe('1 MB of one message without usage', () => {
  it.each(TEXTS)('%s', async (name, make) => {
    const content = make()
    for (const model of ['gpt-4.1-mini', 'claude-sonnet-4-5', 'gemini-2.5-pro']) {
      const id = randomUUID()
      const run = {
        id,
        name,
        run_type: 'llm',
        start_time: new Date().toISOString(),
        extra: { metadata: { ls_model_name: model } },
      }
      const work = (async () => {
        const answer = await server.sendParts([
          jsonPart(`post.${id}`, { ...run, end_time: new Date().toISOString() }),
          jsonPart(`post.${id}.inputs`, { messages: [{ role: 'user', content }] }),
          jsonPart(`post.${id}.outputs`, { choices: [{ message: { role: 'assistant', content } }] }),
        ])
        const acknowledged = performance.now()
        const read = await server.read(id)
        return { answer, read, stored_ms: performance.now() - acknowledged }
      })()
      const times = await watch(work)
      const calm = median(await watch(delay(CALM_MS)))
      const { answer, read, stored_ms } = await work
      expect(answer).toMatchObject({ status: 202, body: { accepted: 1, rejected: [] } })
      const { prompt_tokens, completion_tokens, llm } = read as typeof read & Record<string, number>
      const sampled = llm?.issues.some(({ code }) => code === 'estimate_sampled')
      console.log(
        `${name}, ${model}: acknowledged in ${answer.ms.toFixed(0)} ms, stored and read after ${stored_ms.toFixed(0)} ms, /info median ${median(times).toFixed(0)} max ${Math.max(...times).toFixed(0)} ms, ${calm.toFixed(0)} ms afterwards, ${prompt_tokens} tokens${sampled ? ' (sampled)' : ''}`,
      )
      // A megabyte of base64 may be read as media, for which no tokens are estimated.
      expect(prompt_tokens).toBeGreaterThan(name === 'base64' ? -1 : 1000)
      expect(completion_tokens).toBeGreaterThan(name === 'base64' ? -1 : 1000)
      expect(sampled).toBe(true)
      expect(llm?.usage_source).toEqual({ input: 'estimate', output: 'estimate' })
      expect(median(times)).toBeLessThan(calm + SLOWER_MS)
    }
  })
})
