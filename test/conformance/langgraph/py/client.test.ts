import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PYTHON, pinned, withoutPython } from '../../../support/python.ts'
import { type RecordingProxy, startRecordingProxy } from '../../../support/faults/proxies/recording.ts'
import { useDeployment } from '../../deployments/use-deployment.ts'
import { answersAsDocumented, type OpenApiDocument } from '../../openapi/answers.ts'

const missing = withoutPython()
const SCRIPT = fileURLToPath(new URL('client.py', import.meta.url))

describe.skipIf(missing !== '')(`LangGraph's Python SDK, ${pinned('langgraph-sdk')}${missing}`, () => {
  const setup = useDeployment()
  let proxy: RecordingProxy
  let said: Record<string, unknown>
  let prefix: string

  beforeAll(async () => {
    const { url, weir } = setup()
    prefix = new URL(url).pathname
    proxy = await startRecordingProxy(weir.url)
    const done = await promisify(execFile)(PYTHON, [SCRIPT], {
      env: {
        PATH: process.env['PATH'] ?? '',
        DEPLOYMENT_URL: proxy.url + prefix,
        DIRECT_URL: url,
        LANGGRAPH_API_KEY: setup().weir.key,
      },
    })
    said = JSON.parse(done.stdout) as Record<string, unknown>
  })
  afterAll(() => proxy.stop())

  it('creates threads, runs and states', () => {
    expect(said).toMatchObject({
      waited: { log: ['begun', 'answered plain', 'finished'] },
      joined: { kind: 'plain' },
      run: { status: 'success', multitask_strategy: 'enqueue' },
      runs: true,
      next: [],
      log: 'by hand',
      found: true,
      count: 1,
      status: 'idle',
      stateless: ['begun', 'answered plain', 'finished'],
      batch: 2,
    })
    expect(said['history']).toBeGreaterThan(5)
  })

  it('interrupts for a human, fails, is refused and cancels', () => {
    expect(said).toMatchObject({
      asked: [{ question: 'go on?' }],
      interrupted: 'interrupted',
      answered: 'yes',
      failed: 'QuotaError',
      refused: {
        cancel: [409, 'run_not_active'],
        thread: [404, 'not_found'],
        assistant: [404, 'not_found'],
        id: [422, 'invalid_request'],
        label: [422, 'invalid_request'],
      },
      reject: [409, 'thread_busy'],
      cancelled: 'interrupted',
      undone: [404, 'not_found'],
    })
  })

  it('streams runs and threads', () => {
    const values = ['values', 'updates', 'values', 'updates', 'values', 'updates', 'values']
    expect(said).toMatchObject({
      streamed: ['metadata', ...values],
      tokens: 'tok0 tok1 tok2 ',
      resumed: true,
      ended: [],
      stream_failed: { error: 'QuotaError', message: 'no more quota' },
      thread_streamed: ['metadata', 'success', 'state_update', 'metadata', 'error', 'state_update'],
    })
  })

  it('uses assistants, a store and crons', () => {
    expect(said).toMatchObject({
      version: 2,
      versions: [2, 1],
      latest: 'By Python',
      assistants: 1,
      subgraphs: ['nested'],
      deleted: [404, 'not_found'],
      item: { text: 'kept' },
      items: ['one'],
      namespaces: [['py', 'notes']],
      gone: null,
      crons: [1, 1],
      ends: true,
      cleared: null,
    })
    expect(said['nodes']).toBeGreaterThan(5)
    expect(said['schemas']).toContain('input_schema')
  })

  it('gets responses as the OpenAPI document describes', async () => {
    const document = await setup().request('/openapi.json')
    const check = answersAsDocumented((await document.json()) as OpenApiDocument)
    const answers = proxy.requests.map((recorded) => ({
      ...recorded,
      url: recorded.url.slice(prefix.length),
    }))
    expect(answers.length).toBeGreaterThan(50)
    expect(answers.flatMap((answer) => check.faults(answer))).toEqual([])
    expect(answers.filter(({ status }) => status >= 500)).toEqual([])
  })
})
