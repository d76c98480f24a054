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
const FILES = [
  'test/conformance/langgraph/',
  'test/conformance/graphs/custom-auth.test.ts',
  'test/conformance/graphs/projects.test.ts',
  'test/conformance/deployments/http-options.test.ts',
]
const WITHOUT = withoutPython()

async function runTwins(): Promise<string> {
  const { PATH, HOME, CI, NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, [VITEST, 'run', '--project=conformance', ...FILES], {
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
  it('pass the conformance tests of runs, streams, cancels, threads, assistants, crons, the store, auth files, HTTP apps, webhooks to them, projects, and the options of http', async () => {
    const output = await runTwins()
    const [, passed, failed] = /(\d+) passed, (\d+) failed/.exec(output) ?? []
    expect(Number(failed), output.slice(output.search('Failed Tests'))).toBe(0)
    expect(Number(passed)).toBeGreaterThan(100)
  })
})
