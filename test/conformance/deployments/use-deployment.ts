import { fileURLToPath } from 'node:url'
import { Client } from '@langchain/langgraph-sdk'
import { afterAll, beforeAll, expect } from 'vitest'
import { startWeir } from '../../support/servers/server.ts'
import { borrowWeir, type UsedWeir } from '../../support/servers/use-weir.ts'
import { DEPLOYMENT_NAME, twinOf } from '../../support/servers/weir-pool.ts'
import { type Answer, answersAsDocumented, type OpenApiDocument } from '../openapi/answers.ts'

/** What tests of the deployment API use. Read it inside tests and hooks only. */
export interface DeploymentSetup {
  weir: UsedWeir
  url: string
  /** LangGraph's SDK, set up as users do; all its responses are checked after the tests. */
  client: Client
  /** A request with the key, for calls that the SDK does not make. Its response is checked, too. */
  request(
    path: string,
    init?: { method?: string; headers?: Record<string, string>; body?: string },
  ): Promise<Response>
  /** Number of event streams opened so far. A test waits until its stream is counted before it causes events. */
  streams(): number
}

function isStream({ answer_type }: Pick<Answer, 'answer_type'>): boolean {
  return answer_type.startsWith('text/event-stream')
}

function recordingFetch(url: string, answers: Answer[]): typeof fetch {
  return async (input, init) => {
    // `input` is passed on, not a copy: Node's fetch keeps no reference to a Request that is made here, and the signal
    // of a collected Request has no effect.
    const response = await fetch(input, init)
    const answer_type = response.headers.get('content-type') ?? ''
    // A stream may never end: only its type is checked here.
    const body = isStream({ answer_type }) ? new ArrayBuffer(0) : await response.clone().arrayBuffer()
    const target = input instanceof Request ? input.url : String(input)
    const method = (input instanceof Request ? input.method : init?.method) ?? 'GET'
    const { status } = response
    answers.push({ method, url: target.slice(url.length), status, answer_type, answer: new Uint8Array(body) })
    return response
  }
}

/** Folders of graphs that several files use, whose servers are shared. */
const SHARED_FOLDERS: readonly string[] = ['protocol-v2']

/**
 * A server that hosts graphs of test/fixtures, by default those of `graphs`, for the tests of a file: a shared one, or a
 * new one if no other file uses the folder. At the end, every response must match the deployment's OpenAPI document, and
 * none may be a 5xx.
 */
export function useDeployment(folder?: string): () => DeploymentSetup {
  let setup: DeploymentSetup | undefined
  const answers: Answer[] = []

  beforeAll(async () => {
    const weir = await (folder === undefined || SHARED_FOLDERS.includes(folder)
      ? borrowWeir('/weir/deployment', folder)
      : startHosting(folder))
    const url = new URL(`/deployments/${DEPLOYMENT_NAME}`, weir.url).href
    const record = recordingFetch(url, answers)
    setup = {
      weir,
      url,
      client: new Client({ apiUrl: url, apiKey: weir.key, callerOptions: { fetch: record } }),
      request: (path, { headers, ...init } = {}) =>
        record(`${url}${path}`, { ...init, headers: { 'x-api-key': weir.key, ...headers } }),
      streams: () => answers.filter(isStream).length,
    }
  })
  afterAll(async () => {
    if (setup === undefined) return
    try {
      const document = await fetch(`${setup.url}/openapi.json`)
      const check = answersAsDocumented((await document.json()) as OpenApiDocument)
      expect(answers.length).toBeGreaterThan(0)
      expect(answers.flatMap((answer) => check.faults(answer))).toEqual([])
      expect(answers.filter(({ status }) => status >= 500)).toEqual([])
    } finally {
      // The next user of the server must find no active runs.
      const headers = { 'x-api-key': setup.weir.key, 'content-type': 'application/json' }
      const body = JSON.stringify({ status: 'all' })
      await fetch(`${setup.url}/runs/cancel?wait=true`, { method: 'POST', headers, body })
      expect(await setup.weir.stop()).toBe(0)
    }
  })

  return () => {
    if (setup === undefined) throw new Error('the setup has not started')
    return setup
  }
}

function startHosting(folder: string): Promise<UsedWeir> {
  const GRAPHS = fileURLToPath(new URL(`../../fixtures/${twinOf(folder)}/langgraph.json`, import.meta.url))
  return startWeir({ GRAPHS, DEPLOYMENT_NAME, DEPLOYMENT_PORT: '0' })
}

/** Status and body of the error of an SDK call. */
export async function refusal(
  call: Promise<unknown>,
): Promise<{ status: number; detail: string; code: string }> {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(Error)
  const { status, text } = error as { status: number; text: string }
  return { status, ...(JSON.parse(text) as { detail: string; code: string }) }
}
