import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { PYTHON, pinned, withoutPython } from '../../../support/python.ts'
import { useDeployment } from '../../deployments/use-deployment.ts'

const missing = withoutPython()
const SCRIPT = fileURLToPath(new URL('protocol.py', import.meta.url))

describe.skipIf(missing !== '')(`threads.stream of ${pinned('langgraph-sdk')} for Python${missing}`, () => {
  const setup = useDeployment()
  let said: Record<string, Record<string, unknown>>

  beforeAll(async () => {
    const env = {
      PATH: process.env['PATH'] ?? '',
      DEPLOYMENT_URL: setup().url,
      LANGGRAPH_API_KEY: setup().weir.key,
    }
    expect((await setup().request('/info')).status).toBe(200)
    said = JSON.parse((await promisify(execFile)(PYTHON, [SCRIPT], { env })).stdout) as typeof said
  })

  it.each(['sse', 'websocket'])(
    'over %s it has the output of each turn, interrupts with values, failures and events (V-4, V-14, V-15, V-18, V-23, V-29, V-36)',
    (transport) => {
      expect(said[transport]).toMatchObject({
        start: ['run_id'],
        output: 'tok0 tok1 tok2 ',
        second: ['tok0 tok1 tok2 tok3 ', 4],
        interrupts: [[{ question: 'go on?' }, []]],
        respond: {},
        answer: 'yes',
        failed: expect.stringContaining('no more quota') as string,
        steps: 0,
        events: {
          methods: expect.arrayContaining(['lifecycle', 'messages', 'updates', 'values']) as string[],
          rises: true,
          once: true,
          ends: ['completed'],
        },
      })
    },
  )

  it('the synchronous client has outputs and answers interrupts (V-12, V-29)', () => {
    expect(said['sync']).toMatchObject({
      output: 'tok0 tok1 tok2 ',
      second: 4,
      interrupts: [{ question: 'go on?' }],
      answer: 'yes',
    })
  })
})
