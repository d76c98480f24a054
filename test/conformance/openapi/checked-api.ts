import { expect } from 'vitest'
import { answersAsDocumented, type OpenApiDocument } from './answers.ts'

/** One call, with or without a key. */
export interface ApiCall {
  key?: string | undefined
  method?: string
  /** The path after `/api/v1`. */
  path: string
  /** Sent as JSON; text and bytes are sent unchanged. */
  body?: unknown
  headers?: Readonly<Record<string, string>>
}

/** The response; `body` is undefined unless it is JSON. */
export interface ApiAnswer {
  status: number
  text: string
  body: unknown
  headers: Headers
}

/** Calls a server and compares every response with the OpenAPI document that it serves. */
export type CheckedApi = (call: ApiCall) => Promise<ApiAnswer>

function encoded(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return body
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body)
}

/** Reads the OpenAPI document of the server, and returns the function that calls it. */
export async function openCheckedApi(url: string): Promise<CheckedApi> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument
  const check = answersAsDocumented(document)
  return async ({ key, method = 'GET', path, body, headers }) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(key !== undefined && { 'x-api-key': key }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: encoded(body) }),
    })
    const answer = new Uint8Array(await response.arrayBuffer())
    const answer_type = response.headers.get('content-type') ?? ''
    expect(check.faults({ method, url: path, status: response.status, answer_type, answer })).toEqual([])
    const text = new TextDecoder().decode(answer)
    const isJson = answer_type.startsWith('application/json') && text !== ''
    return {
      status: response.status,
      text,
      body: isJson ? JSON.parse(text) : undefined,
      headers: response.headers,
    }
  }
}
