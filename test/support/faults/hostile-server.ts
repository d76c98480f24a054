import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { temporaryDir } from '../stores/clickhouse/embedded-clickhouse.ts'
import { jsonPart } from '../servers/load.ts'
import { BOUNDARY, multipartBody, type WirePart } from '../traces/wire-body.ts'
import { jsonBody, KEY, startWeir, type WeirEnvironment, type WeirProcess } from '../servers/weir-process.ts'

/** A response with its duration. */
export interface Answer {
  readonly status: number
  readonly ms: number
  readonly body: {
    code?: string
    accepted?: number
    rejected?: Rejection[]
    truncated?: boolean
    detail?: unknown
  }
  readonly retryAfter: string | null
}

interface Rejection {
  run_id: string | null
  code: string
  field: string | null
  reason: string
}

/**
 * A real server for a file of hostile requests. After each test it must still accept a valid request, and the stored
 * result must be readable.
 */
export interface HostileServer {
  weir(): WeirProcess
  /** Sends a body to an ingest route. */
  send(path: string, body: Uint8Array | string, headers?: Record<string, string>): Promise<Answer>
  sendParts(parts: readonly WirePart[], end?: string): Promise<Answer>
  sendBatch(batch: unknown): Promise<Answer>
  /**
   * Writes bytes to a socket and returns everything received until the socket closes. If the test ends with a reset, it
   * follows `pauseMs` after the bytes.
   */
  raw(pieces: readonly (string | Uint8Array)[], end?: RawEnd, pauseMs?: number): Promise<string>
  /** Reads the TraceRun after everything that was sent has been stored. */
  read(id: string): Promise<ReadTraceRun>
  /** Expects a stored TraceRun of `toolRun` with these fields. */
  expectStored(id: string, fields?: object): Promise<void>
  expectAbsent(id: string): Promise<void>
}

type RawEnd = 'end' | 'reset' | 'wait'

export interface ReadTraceRun {
  id: string
  [field: string]: unknown
  llm?: { issues: { code: string }[]; usage_source: { input: string | null; output: string | null } }
}

/** Registers the hooks that start the server, check it after each test and end it. */
export function hostileServer(env: WeirEnvironment = {}): HostileServer {
  let weir: WeirProcess
  let dir: Awaited<ReturnType<typeof temporaryDir>>
  const good: string[] = []
  beforeAll(async () => {
    dir = await temporaryDir()
    weir = await startWeir(dir.dir, env)
  })
  afterAll(async () => {
    await weir.drained()
    for (const id of good) expect((await weir.fetch(`/api/v1/runs/${id}`)).status).toBe(200)
    if (weir.isAlive()) expect(await weir.stop()).toBe(0)
    const unexpected = weir.log.filter(
      ({ level, msg }) => level === 'fatal' || /request failed|derive:/.test(msg),
    )
    expect(unexpected).toEqual([])
    await dir.remove()
  })
  afterEach(async () => {
    expect(weir.isAlive()).toBe(true)
    const id = randomUUID()
    const answer = await weir.fetch('/runs', jsonBody('POST', { id, name: 'after', run_type: 'chain' }))
    expect(answer.status).toBe(202)
    good.push(id)
  })

  const send: HostileServer['send'] = async (path, body, headers = {}) => {
    const started = performance.now()
    const answer = await weir.fetch(path, {
      method: 'POST',
      body: new Uint8Array(Buffer.from(body)),
      headers,
    })
    const text = await answer.text()
    const ms = performance.now() - started
    const retryAfter = answer.headers.get('retry-after')
    return { status: answer.status, ms, body: JSON.parse(text) as Answer['body'], retryAfter }
  }
  const read = async (id: string): Promise<ReadTraceRun> => {
    await weir.drained()
    return await weir.json<ReadTraceRun>(`/api/v1/runs/${id}`)
  }
  return {
    weir: () => weir,
    send,
    sendParts: (parts, end) => send('/runs/multipart', multipartBody(parts, end), multipartType()),
    sendBatch: (batch) => send('/runs/batch', JSON.stringify(batch), { 'content-type': 'application/json' }),
    raw: (pieces, end = 'end', pauseMs = 100) => talk(weir.url, pieces, end, pauseMs),
    read,
    async expectStored(id, fields = {}) {
      expect(await read(id)).toMatchObject({ id, name: 'x', ...fields })
    },
    async expectAbsent(id) {
      await weir.drained()
      expect((await weir.fetch(`/api/v1/runs/${id}`)).status).toBe(404)
    },
  }
}

/** A TraceRun named `x`. */
export function toolRun(id: string): object {
  return { id, name: 'x', run_type: 'tool', start_time: '2026-11-20T09:00:00Z' }
}

/** The multipart part that creates `toolRun`. */
export function toolRunPart(id: string): WirePart {
  return jsonPart(`post.${id}`, toolRun(id))
}

export function multipartType(boundary = BOUNDARY): Record<string, string> {
  return { 'content-type': `multipart/form-data; boundary=${boundary}` }
}

/** The head of an HTTP request as text. */
export function rawHead(path: string, headers: Record<string, string>): string {
  const lines = Object.entries({ host: 'x', 'x-api-key': KEY, ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  )
  return `POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`
}

function talk(
  url: string,
  pieces: readonly (string | Uint8Array)[],
  end: RawEnd,
  pauseMs: number,
): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined).on('close', () => resolve(answer))
    socket.setEncoding('latin1').on('data', (text: string) => {
      answer += text
      if (end === 'wait' && answer.includes('\r\n\r\n')) socket.end()
    })
    for (const piece of pieces.slice(0, -1)) socket.write(piece)
    socket.write(pieces.at(-1) ?? '', () => {
      if (end === 'end') socket.end()
      // The server must have read the bytes before the reset, which would discard them.
      if (end === 'reset') setTimeout(() => socket.resetAndDestroy(), pauseMs)
    })
  })
}
