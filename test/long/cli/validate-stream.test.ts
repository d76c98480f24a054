import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { expect, it, vi } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { LONG_MS } from '../../support/campaign.ts'

vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const RUNS = 100_000
const MAX_BYTES = 200 * 1000 * 1000
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const TELLS_PEAK = 'process.on("exit", () => console.error(`peak ${process.resourceUsage().maxRSS}`))'

/** Model calls, one a line. */
function* lines(): Generator<string> {
  const call = {
    name: 'call',
    run_type: 'llm',
    start_time: '2026-11-20T09:00:00.000000Z',
    end_time: '2026-11-20T09:00:01.000000Z',
    session_name: 'stream',
    inputs: { messages: [{ role: 'user', content: 'What does tea cost? '.repeat(10) }] },
    outputs: {
      choices: [{ message: { role: 'assistant', content: 'Three euros. '.repeat(10) } }],
      usage: { prompt_tokens: 50, completion_tokens: 40, total_tokens: 90 },
    },
    extra: { metadata: { ls_provider: 'openai', ls_model_name: 'gpt-4.1-mini' } },
  }
  for (let i = 0; i < RUNS; i += 1) {
    const id = newUuid()
    yield `${JSON.stringify({ id, trace_id: id, dotted_order: `20261120T090000000000Z${id}`, ...call })}\n`
  }
}

it('weir validate reads 100,000 runs in a stream in at most 200 MB', async () => {
  const args = ['--import', `data:text/javascript,${encodeURIComponent(TELLS_PEAK)}`, 'src/main.ts']
  const child = spawn(process.execPath, [...args, 'validate', '--format', 'json', '-'], { cwd: ROOT })
  const [said, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
    pipeline(Readable.from(lines()), child.stdin),
  ])
  const peak = Number(/peak (\d+)/.exec(errors)?.[1]) * 1024
  const { summary } = JSON.parse(said) as { summary: object }
  expect([code, summary]).toEqual([0, expect.objectContaining({ runs: RUNS, valid: RUNS })])
  expect(peak).toBeLessThanOrEqual(MAX_BYTES)
})
