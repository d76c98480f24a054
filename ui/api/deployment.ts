import { readAnswer, send } from './call.ts'

/** The address of the API of a deployment, on this origin. */
export function deploymentPath(name: string): string {
  return `/deployments/${encodeURIComponent(name)}`
}

/** Tokens of users by the names of deployments. They are only in the memory of this tab. */
const tokens = new Map<string, string>()

/** Later calls of the deployment are made with this token, as its user; with '', by the session of this browser. */
export function setUserToken(name: string, token: string): void {
  if (token === '') tokens.delete(name)
  else tokens.set(name, token)
}

/** True when calls of the deployment are made with a user's token. */
export function hasUserToken(name: string): boolean {
  return tokens.has(name)
}

/** Later calls are made by the session of this browser. Must be called when the user of the browser changes. */
export function forgetUserTokens(): void {
  tokens.clear()
}

/**
 * Headers that identify the caller for a deployment with an auth file: the user of Studio (AUTH-3), or that of a token.
 */
export function callerHeaders(name: string): Record<string, string> {
  const token = tokens.get(name)
  return token === undefined ? { 'x-auth-scheme': 'langsmith' } : { authorization: `Bearer ${token}` }
}

/** The request of a call of a deployment's API. */
export interface DeploymentCall {
  /** Default: POST with a body, else GET. */
  method?: string
  body?: unknown
  signal?: AbortSignal
  /** Further headers, such as `prefer`. */
  headers?: Readonly<Record<string, string>>
}

/** A response of the API of a deployment: its JSON, and the offset of the next page, if there is one. */
export interface DeploymentReply<T> {
  data: T
  next: string | undefined
}

/**
 * Calls the API of a deployment; `path` begins with a slash. The session of this browser authenticates the call, or the
 * token that was set. @throws ApiError
 */
export async function callDeployment<T>(
  name: string,
  path: string,
  { method, body, signal, headers }: DeploymentCall = {},
): Promise<DeploymentReply<T>> {
  const response = await send(deploymentPath(name) + path, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    ...(signal !== undefined && { signal }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
    headers: {
      ...callerHeaders(name),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
  })
  const next = response.headers.get('x-pagination-next') ?? undefined
  return { data: (await readAnswer(response)) as T, next }
}
