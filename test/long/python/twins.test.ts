import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { withoutPython } from '../../support/python.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Python starts slowly, once for each host.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const VITEST = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url))
/**
 * The conformance tests of both SDKs, of auth files, of whole projects and of the options of `http`. The project of
 * each of these tests has a twin in Python.
 */
const FILES = {
  conformance: ['test/conformance/langgraph/', 'test/conformance/graphs/projects.test.ts'],
  long: ['test/long/graphs/custom-auth.test.ts', 'test/long/graphs/http-options.test.ts'],
}
/** Fewer tests than there are in either layer. */
const LEAST = { conformance: 100, long: 15 }
type Layer = keyof typeof FILES
const WITHOUT = withoutPython()

async function runTwins(layer: Layer): Promise<string> {
  const { PATH, HOME, CI, NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, [VITEST, 'run', `--project=${layer}`, ...FILES[layer]], {
    cwd: ROOT,
    env: {
      PATH,
      HOME,
      CI,
      NODE_COMPILE_CACHE,
      NO_COLOR: '1',
      SHARED_GRAPHS: 'python-graphs',
      TEST_LENGTH: 'long',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text))
  await once(child, 'close')
  return output
}

describe.skipIf(WITHOUT !== '')(`P-29: Python twins${WITHOUT}`, () => {
  it.each<[string, Layer]>([
    [
      'runs, streams, cancels, threads, assistants, crons, the store, HTTP apps, webhooks to them, and projects',
      'conformance',
    ],
    ['auth files and the options of http', 'long'],
  ])('pass the tests of %s', async (_, layer) => {
    const output = await runTwins(layer)
    const [, passed, failed] = /(\d+) passed, (\d+) failed/.exec(output) ?? []
    expect(Number(failed), output.slice(output.search('Failed Tests'))).toBe(0)
    expect(Number(passed)).toBeGreaterThan(LEAST[layer])
  })
})
