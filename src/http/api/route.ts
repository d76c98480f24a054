import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { ActsIn } from '../../identity/authenticator.ts'
import type { Principal } from '../../identity/principal.ts'
import type { ErrorCode } from '../../base/errors.ts'
import type { SchemaName } from '../../schema/registry.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import type { RequestHead } from '../../trace/decode/decoded.ts'
import { actsIn, type RouteAccess } from './access.ts'
import type { Parameters, ParameterValues } from './parameters.ts'

/** HTTP methods of routes; HEAD and OPTIONS are answered for every path. */
export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/** The input of a handler, checked and typed. */
export interface RouteContext<P, Q, B, D> {
  deps: D
  principal: Principal
  params: ParameterValues<P>
  query: ParameterValues<Q>
  body: B
  req: IncomingMessage
  /** A signal that aborts when the client disconnects before its response is complete. */
  gone(): AbortSignal
}

/** Headers of a response by lower-case name. */
export type Headers = Readonly<Record<string, string | number>>

/** The result of a handler: JSON of the schema, or bytes with their type in `headers`. Status 200 by default. */
export interface RouteReply<R> {
  status?: number
  headers?: Headers
  body: R
  /** Called once, when the response was sent or its connection closed; releases the resources of the response. */
  sent?(): void
}

/** A body that is written over any length of time. */
export interface LiveBody {
  /**
   * Called after the headers. Resolves when everything is written or the client has disconnected; rejects when the
   * connection must be cut.
   */
  writeTo(res: ServerResponse): Promise<void>
  /** Always called once, after the last write. */
  close(): void
}

/**
 * A body that is sent as it is, without conversion to JSON. For a promise of a text, the headers are sent at once, and
 * a newline every 5 s until the promise resolves.
 */
export type ReplyBytes = Uint8Array | string | Readable | Promise<string> | LiveBody

type BodyOf<B> = B extends SchemaName ? SchemaTypes[B] : B extends 'raw' ? Uint8Array : undefined
type ReplyOf<R> = R extends SchemaName ? SchemaTypes[R] : ReplyBytes

/** How the ingest handler reads the requests of a route. */
export interface HotRoute {
  kind: RequestHead['kind'] | 'otlp-metrics'
  /** True if the key may be the password of `Authorization: Basic`, as Langfuse's clients send it. */
  basic?: true
}

/** The documented part of a route. */
export interface RouteHead extends RouteAccess {
  method: Method
  /** The path without prefix, with `{name}` for each path parameter. */
  path: string
  summary: string
  description?: string
  tag: string
  params: Parameters
  query: Parameters
  /** Headers that only some routes read: their purpose by name. */
  headers?: Readonly<Record<string, string>>
  /** Schema of the JSON body; `raw` for any body, as in ingest routes. */
  body?: SchemaName | 'raw'
  /**
   * The response to a body that is not JSON or does not fit its schema. Absent: the route answers such a body with an
   * error.
   */
  unreadable?: RouteReply<unknown>
  /** Schema of the JSON response; `bytes` for a response of type `reply_type`. */
  reply: SchemaName | 'bytes'
  /** Content type of a `bytes` response. */
  reply_type: string
  /** Further content types of a `bytes` response; the client chooses one. */
  other_types?: readonly string[]
  /** Schema of a JSON response that is sent as bytes. */
  reply_schema?: SchemaName
  /** Content types of the body and of every response, if a foreign protocol defines them. */
  wire_types?: readonly string[]
  /** Status of success. */
  status: number
  /** Further statuses: the schema, or null for no body; failures of a foreign protocol have a body of `wire_types`. */
  other_replies?: Readonly<Record<number, SchemaName | null>>
  /** Errors besides the common ones. */
  errors: readonly ErrorCode[]
  /**
   * Set if the ingest handler serves the route before Express gets the request. That takes a sixth of the time. The
   * route's definition is then only its documentation.
   */
  hot?: HotRoute
  /** Whether pages of any site may call the route and read its response. */
  any_origin: boolean
  /** Whether clients may cache the route's response; status 304 reports that it has not changed. */
  revalidates: boolean
}

export interface OauthResource<D> {
  /** Its path, such as `/mcp`: only access tokens for this resource are accepted. */
  path(deps: D): string
  /** The header WWW-Authenticate of 401, which tells clients where to get a token; undefined where there is none. */
  challenge(deps: D, asked: { req: IncomingMessage; whole_path: string }): string | undefined
}

/** A route as it is registered in an API with dependencies `D`; the types of its parameters and bodies are not kept. */
export interface Route<D> extends RouteHead {
  acts_in: ActsIn
  /** Absent: the route accepts no access tokens of OAuth. */
  oauth?: OauthResource<D>
  /** Throws if the route is switched off. Called after the permission check and before parameters are read. */
  available?(deps: D): void
  handle(context: RouteContext<Parameters, Parameters, unknown, D>): Promise<RouteReply<unknown>>
}

/** The fields of a route that have a default. */
type Optional = 'reply_type' | 'status' | 'errors' | 'any_origin' | 'revalidates'
/** The fields of a route whose types the definition keeps. */
type Typed = 'params' | 'query' | 'body' | 'reply'

/** A route as written in the source. */
export interface RouteDefinition<D, P, Q, B, R>
  extends Omit<RouteHead, Optional | Typed>,
    Partial<Pick<RouteHead, Optional>>,
    Pick<Route<D>, 'oauth' | 'available'> {
  params?: P
  query?: Q
  body?: B
  reply: R
  handle(context: RouteContext<P, Q, BodyOf<B>, D>): Promise<RouteReply<ReplyOf<R>>>
}

/**
 * Makes routes of an API with dependencies `D`. Parameters and body are checked before `handle` runs; the types of body
 * and response come from the names of the schemas. One definition serves registration, checks and OpenAPI.
 */
export function routeOn<D>() {
  return <
    const P extends Parameters = Parameters,
    const Q extends Parameters = Parameters,
    const B extends SchemaName | 'raw' | undefined = undefined,
    const R extends SchemaName | 'bytes' = 'bytes',
  >(
    definition: RouteDefinition<D, P, Q, B, R>,
  ): Route<D> => {
    const { handle, body, ...rest } = definition
    return {
      reply_type: 'application/json',
      status: 200,
      errors: [],
      any_origin: false,
      revalidates: false,
      ...rest,
      acts_in: actsIn(definition.path),
      params: definition.params ?? {},
      query: definition.query ?? {},
      ...(body !== undefined && { body }),
      // The context is built from the same definition, so the handler's argument types are correct.
      handle,
    }
  }
}
