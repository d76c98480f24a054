import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { PYTHON, pinned, withoutPython } from '../../../support/python.ts'
import { useClientSetup } from '../js/client-setup.ts'

const setup = useClientSetup()
const missing = withoutPython()

describe.skipIf(missing !== '')(`API v2 from the Python SDK, ${pinned('langsmith')}${missing}`, () => {
  it('S-7: reads, streams, shares, and works with projects, without a warning about the server', async () => {
    const script = fileURLToPath(new URL('v2.py', import.meta.url))
    // Warnings about deprecated calls inside the client itself have nothing to do with the server.
    const { stdout, stderr } = await promisify(execFile)(
      PYTHON,
      ['-W', 'ignore::DeprecationWarning', script],
      {
        env: {
          PATH: process.env['PATH'] ?? '',
          LANGSMITH_TRACING: 'true',
          LANGSMITH_ENDPOINT: setup().proxy.url,
          LANGSMITH_API_KEY: setup().weir.key,
        },
      },
    )
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual({
      queried: 6,
      streamed: ['chain', 'chain', 'chain', 'model', 'model', 'model'],
      traces: [
        ['chain', 7],
        ['chain', 7],
        ['chain', 7],
      ],
      streamed_traces: ['chain', 'chain', 'chain'],
      of_trace: ['chain', 'model'],
      same_token: true,
      share_url: true,
      public: ['chain', 'model'],
      public_one: 'chain',
      v1: [true, true, { question: expect.stringMatching(/^q\d$/) }, 2],
      unshared: [false, null],
      threads: [['chat/1 ä', 2, 14]],
      turns: [
        ['chain', 1],
        ['chain', 2],
      ],
      thread_stats: 2,
      shared_thread: true,
      v1_threads: [['chat/1 ä', 2]],
      read_thread: 2,
      made: ['EXPERIMENT', { a: 1, b: 2 }],
      changed: [{ b: 2 }, 'd'],
      resolved: true,
      sessions: [
        ['PROJECT', 6, 21],
        ['EXPERIMENT', 0, 0],
      ],
      retrieved: 'd',
      stats: [3, 21, 0],
      left: false,
    })
  })
})
