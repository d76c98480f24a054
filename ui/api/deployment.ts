import { readAnswer, send } from './call.ts'
import { createUserTokens, type UserTokens } from './user-tokens.ts'

/** The address of the API of a deployment, on this origin. */
export function deploymentPath(name: string): string {
  return `/deployments/${encodeURIComponent(name)}`
}

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

export interface DeploymentApi extends UserTokens {
  /**
   * Calls the API of a deployment; `path` begins with a slash. The session of this browser authenticates the call, or
   * the token that was set. @throws ApiError
   */
  call<T>(name: string, path: string, call?: DeploymentCall): Promise<DeploymentReply<T>>
}

export function createDeploymentApi(): DeploymentApi {
  const tokens = createUserTokens()
  return {
    ...tokens,
    async call(name: string, path: string, { method, body, signal, headers }: DeploymentCall = {}) {
      const response = await send(deploymentPath(name) + path, {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        ...(signal !== undefined && { signal }),
        ...(body !== undefined && { body: JSON.stringify(body) }),
        headers: {
          ...tokens.headers(name),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
      })
      const next = response.headers.get('x-pagination-next') ?? undefined
      return { data: (await readAnswer(response)) as never, next }
    },
  }
}
