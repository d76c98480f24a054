import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { zstdDecompressSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { PYTHON, pinned, withoutPython } from '../../../support/python.ts'
import { useClientSetup } from '../js/client-setup.ts'
import type { ReadTraceRun } from '../../traces/corpus/facts.ts'

/** The output of client.py. */
interface Printed {
  ids: Record<string, string>
  runs: Record<string, Partial<ReadTraceRun>>
  /** The run, or the error when it was read. */
  read_run: unknown
  feedback: object[]
  [fact: string]: unknown
}

const missing = withoutPython()

describe.skipIf(missing !== '')(`the Python SDK, ${pinned('langsmith')}${missing}`, () => {
  const setup = useClientSetup()
  let printed: Printed
  let stderr: string

  beforeAll(async () => {
    const script = fileURLToPath(new URL('client.py', import.meta.url))
    // Warnings about deprecated calls inside the client itself have nothing to do with the server.
    const done = await promisify(execFile)(PYTHON, ['-W', 'ignore::DeprecationWarning', script], {
      env: {
        PATH: process.env['PATH'] ?? '',
        LANGSMITH_TRACING: 'true',
        LANGSMITH_ENDPOINT: setup().proxy.url,
        LANGSMITH_API_KEY: setup().weir.key,
        LANGSMITH_PROJECT: 'python',
      },
    })
    printed = JSON.parse(done.stdout) as Printed
    stderr = done.stderr
  })

  const stored = (name: string): Promise<ReadTraceRun> =>
    setup().weir.json<ReadTraceRun>(`/api/v1/runs/${printed.ids[name]}`)

  it('prints no warning', () => {
    expect(stderr).toBe('')
  })

  it('compresses with zstd, as /info allows; no request is refused or sent again', () => {
    const sent = setup().proxy.requests.filter(({ url }) => url === '/runs/multipart')
    expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([202]))
    expect(new Set(sent.map(({ body }) => body.toString('latin1'))).size).toBe(sent.length)
    // The client sends requests uncompressed if it queued them before it had the response of /info.
    const compressed = sent.filter(({ headers }) => headers['content-encoding'] === 'zstd')
    const parts = compressed.map(({ body }) => zstdDecompressSync(body).toString('latin1')).join('')
    expect(parts).toContain(`name="patch.${printed.ids['two_requests']}"`)
  })

  it('reads its traces', () => {
    expect(printed.runs['rag']).toMatchObject({
      name: 'rag',
      run_type: 'chain',
      status: 'success',
      inputs: { question: 'why?' },
      outputs: { answer: 'Hello', said: 'Hello, world' },
      tags: ['t1'],
    })
    expect(printed.runs['call_llm']).toMatchObject({
      run_type: 'llm',
      prompt_tokens: 27,
      completion_tokens: 13,
    })
    expect(printed.runs['boom']).toMatchObject({ status: 'error' })
    expect(printed.runs['boom']!.error).toContain('python boom')
  })

  // The client's read_run fails when a response has the field `attachments`, which the platform API promises.
  it('reads one run with read_run', () => {
    expect(printed.read_run).toMatchObject({ name: 'rag', trace_id: printed.ids['rag'] })
  })

  it('lists, pages, filters, and finds its project and feedback', () => {
    expect(printed).toMatchObject({
      // The chain `rag` with 3 TraceRuns below it, `boom`, `look`, `fan` with 120, and `two_requests`.
      listed: 4 + 1 + 1 + 121 + 1,
      roots: ['boom', 'fan', 'look', 'rag', 'two_requests'],
      tools: 120,
      failed: ['boom'],
      // In this client, children inherit the tags of their parent.
      filtered: ['call_llm', 'rag', 'retrieve', 'stream_llm'],
      project: 'python',
      has_project: true,
      feedback: [{ key: 'user_score', score: 0.5, comment: 'good' }],
    })
  })

  it('gets usage, estimates and first tokens', async () => {
    const checks = { run_type: { ok: true }, format: { ok: true }, model: { ok: true } }
    expect((await stored('call_llm')).llm).toMatchObject({
      usage_source: { input: 'client', output: 'client' },
      usage_metadata: { input_tokens: 27, output_tokens: 13, input_token_details: { cache_read: 10 } },
      checks: { ...checks, usage: { ok: true } },
    })
    const streamed = await stored('stream_llm')
    expect(streamed.llm).toMatchObject({
      usage_source: { input: 'estimate', output: 'estimate' },
      usage_metadata: { input_tokens: 19, output_tokens: 3 },
      messages: { output: [{ role: 'assistant', content: [{ type: 'text', text: 'Hello, world' }] }] },
      checks: { ...checks, usage: { ok: false } },
    })
    expect(streamed.first_token_time).not.toBeNull()
    // In this client, an event that is added by hand has no time (D-16).
    const byHand = await stored('two_requests')
    expect(byHand).toMatchObject({ first_token_time: null, llm: { time_to_first_token_ms: null } })
    expect(byHand.llm!.issues.map(({ code }) => code)).toContain('new_token_without_time')
  })

  it('gets its attachment byte for byte', async () => {
    const { attachments } = await stored('look')
    expect(attachments).toMatchObject({ picture: { mime_type: 'image/png', size: 10_240 } })
    const response = await setup().weir.request(attachments['picture']!.url)
    const expected = Buffer.from(Array.from({ length: 10_240 }, (_, i) => i % 256))
    expect(Buffer.from(await response.arrayBuffer()).equals(expected)).toBe(true)
  })
})
