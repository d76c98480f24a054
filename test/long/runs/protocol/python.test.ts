import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from '@langchain/langgraph-sdk'
import * as stream from '@langchain/langgraph-sdk/stream'
import { describe, expect, it, vi } from 'vitest'
import { type DeploymentSetup, useDeployment } from '../../../conformance/deployments/use-deployment.ts'
import { assertInOrder, deviations } from '../../../conformance/langgraph/js/protocol-v2/cases/compare.ts'
import { describePythonCases } from '../../../conformance/langgraph/js/protocol-v2/cases/player.ts'
import { SESSIONS, type Session } from '../../../conformance/langgraph/js/protocol-v2/cases/sessions.ts'
import { PYTHON, pinned, withoutPython } from '../../../support/python.ts'
import { startRecordingProxy } from '../../../support/runs/streams/recording-proxy.ts'
import { LONG_MS } from '../../../support/campaign.ts'

// Many runs, and values of many megabytes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const missing = withoutPython()
const SCRIPT = fileURLToPath(new URL('../../../conformance/langgraph/py/sessions.py', import.meta.url))

/**
 * Plays sessions of the Python SDK, and compares what the client reports and the events on the wire with the recording.
 */
function itPlays(setup: () => DeploymentSetup, names: readonly string[]): void {
  it(`${pinned('langgraph-sdk')} for Python: ${names.join(', ')} (V-4, V-14, V-15, V-23, V-29, V-36)`, async () => {
    expect((await setup().request('/info')).status).toBe(200)
    const { url, weir } = setup()
    const played = await Promise.all(
      names.map(async (name) => {
        const recorded = SESSIONS.get(name) as Session
        return { name, recorded, proxy: await startRecordingProxy(url, weir.key) }
      }),
    )
    const scripts = played.map(({ name, recorded: { script }, proxy }) => [name, { url: proxy.url, script }])
    const env = { PATH: process.env['PATH'] ?? '', SESSIONS: JSON.stringify(Object.fromEntries(scripts)) }
    const { stdout } = await promisify(execFile)(PYTHON, [SCRIPT], { env })
    const seen = JSON.parse(stdout) as Record<string, Record<string, unknown>[]>
    for (const { name, recorded, proxy } of played) {
      await proxy.close()
      assertInOrder(proxy.events)
      const outcome = { seen: seen[name] ?? [], events: proxy.events }
      expect([name, ...deviations(name, recorded, outcome)]).toEqual([name])
    }
  })
}

describe.skipIf(missing !== '')(`sessions with Python graphs${missing}`, () => {
  const setup = useDeployment('python-protocol')
  describePythonCases({ version: '1.15.0', Client, stream }, setup)
  itPlays(setup, ['python-sdk/py-sse', 'python-sdk/py-values'])
})

describe.skipIf(missing !== '')(`sessions of the Python SDK with JavaScript graphs${missing}`, () => {
  itPlays(useDeployment('protocol-v2'), ['expected/py-interrupt', 'expected/py-second', 'expected/py-ws'])
})
