import { parseExact } from './exact-json.ts'
import type { Operations } from './platform.gen.ts'
import { problemOf, unreachable } from './problem.ts'

/** An operation of the platform API by method and path, e.g. `GET /api/v1/sessions`. */
export type OperationName = keyof Operations

/** The JSON of an operation's response. */
export type Reply<N extends OperationName> = Operations[N] extends { reply: infer R } ? R : undefined

type QueryValue = string | number | boolean | readonly string[] | null | undefined

export interface Sent<N extends OperationName> {
  /** Values of `{name}` in the path. */
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, QueryValue>>
  body?: Operations[N] extends { body: infer B } ? B : never
  signal?: AbortSignal
  /** The wanted content type, where an operation has several. */
  accept?: string
  /** Id of another workspace than that of the address. */
  workspace?: string
}

/** The workspace that the address names, if it is not the default one. */
function workspaceHeader(): Record<string, string> {
  const workspace = new URLSearchParams(location.search).get('ws')
  return workspace === null ? {} : { 'x-tenant-id': workspace }
}

function queryText(query: Readonly<Record<string, QueryValue>> = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one))
  }
  const text = search.toString()
  return text === '' ? '' : `?${text}`
}

function pathOf(template: string, params: Readonly<Record<string, string>> = {}): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
}

/** Sends a request to this origin. @throws ApiError without a response, or when its status is an error */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { ...workspaceHeader(), ...(init.headers as Record<string, string> | undefined) }
  let response: Response
  try {
    response = await fetch(path, { ...init, headers })
  } catch (error) {
    if (init.signal?.aborted === true) throw error
    throw unreachable(error)
  }
  if (!response.ok) throw await problemOf(response)
  return response
}

/** The response to an operation, unread. @throws ApiError */
export async function callRaw<N extends OperationName>(name: N, sent: Sent<N> = {}): Promise<Response> {
  const [method = 'GET', template = ''] = name.split(' ')
  const { params, query, body, signal, accept, workspace } = sent
  return await send(pathOf(template, params) + queryText(query), {
    method,
    ...(signal !== undefined && { signal }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(accept !== undefined && { accept }),
      ...(workspace !== undefined && { 'x-tenant-id': workspace }),
    },
  })
}

/** Bytes of a response that is read at once. */
const SMALL_BYTES = 100_000

/** The text of a response. Larger ones are decoded as they arrive: megabytes at once would block the page. */
async function textOf(response: Response): Promise<string> {
  const { headers, body } = response
  // With an encoding the length is that of the compressed bytes.
  const bytes = headers.has('content-encoding') ? null : headers.get('content-length')
  if (body === null || (bytes !== null && Number(bytes) < SMALL_BYTES)) return await response.text()
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    text += decoder.decode(value, { stream: !done })
    if (done) return text
  }
}

/** Characters of a response that is parsed in steps: JSON.parse would block the page for tens of milliseconds. */
const LARGE = 1_000_000

async function parsed(text: string): Promise<unknown> {
  if (text.length < LARGE) return parseExact(text)
  const { parseInSteps } = await import('./parse-in-steps.ts')
  return await parseInSteps(text)
}

/** The JSON of a response, numbers as they were sent (exact-json.ts); undefined for an empty one. */
export async function readAnswer(response: Response): Promise<unknown> {
  const text = await textOf(response)
  return text === '' ? undefined : await parsed(text)
}

/** The JSON response of an operation; numbers are kept as sent (exact-json.ts). @throws ApiError */
export async function call<N extends OperationName>(name: N, sent: Sent<N> = {}): Promise<Reply<N>> {
  return (await readAnswer(await callRaw(name, sent))) as Reply<N>
}
