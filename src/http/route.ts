import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { Principal } from '../auth/principal.ts'
import type { ErrorCode } from '../base/errors.ts'
import type { SchemaName } from '../schema/registry.ts'
import type { SchemaTypes } from '../schema/types.gen.ts'
import type { AppDeps } from './app-deps.ts'
import type { Headers } from './exchange.ts'
import type { Parameters, ParameterValues } from './parameters.ts'

/** HTTP methods of routes; HEAD and OPTIONS are answered for every path. */
export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/** What a handler gets: everything checked and with its type. */
export interface RouteContext<P, Q, B> {
  deps: AppDeps
  principal: Principal
  params: ParameterValues<P>
  query: ParameterValues<Q>
  body: B
  req: IncomingMessage
}

/** What a handler answers: JSON of the schema, or bytes with their type in `headers`. Status 200 unless said. */
export interface RouteReply<R> {
  status?: number
  headers?: Headers
  body: R
}

/** Bytes pass through as they are: they were made off the event loop. */
export type ReplyBytes = Uint8Array | string | Readable

type BodyOf<B> = B extends SchemaName ? SchemaTypes[B] : B extends 'raw' ? Uint8Array : undefined
type ReplyOf<R> = R extends SchemaName ? SchemaTypes[R] : ReplyBytes

/** Any route, its types forgotten: what registration and OpenAPI need. */
export interface Route {
  method: Method
  /** With `{name}` for each path parameter; without prefix. */
  path: string
  summary: string
  description?: string
  tag: string
  /** Needs no key (D-5). */
  open: boolean
  params: Parameters
  query: Parameters
  /** Schema of the JSON body; `raw` = any body, as an ingest route takes it. */
  body?: SchemaName | 'raw'
  /** Schema of the JSON answer; `bytes` = what `reply_type` says. */
  reply: SchemaName | 'bytes'
  /** Content type of a `bytes` answer. */
  reply_type: string
  /** Schema of a JSON answer that comes as bytes. */
  reply_schema?: SchemaName
  /** Content types of the body and of every answer where neither is ours to define. */
  wire_types?: readonly string[]
  /** Status of success. */
  status: number
  /** What else than the common errors it answers. */
  errors: readonly ErrorCode[]
  /** Matched in front of Express (facts: six times cheaper): documented here, handled by the ingest handler. */
  hot: boolean
  handle(context: RouteContext<Parameters, Parameters, unknown>): Promise<RouteReply<unknown>>
}

interface RouteDefinition<P, Q, B, R> {
  method: Method
  path: string
  summary: string
  description?: string
  tag: string
  open?: boolean
  params?: P
  query?: Q
  body?: B
  reply: R
  reply_type?: string
  reply_schema?: SchemaName
  wire_types?: readonly string[]
  status?: number
  errors?: readonly ErrorCode[]
  hot?: boolean
  handle(context: RouteContext<P, Q, BodyOf<B>>): Promise<RouteReply<ReplyOf<R>>>
}

/**
 * One route of the platform API. Parameters and body are checked before `handle` runs; the type of the body and
 * of the answer come from the schemas' names. One definition serves registration, checks and OpenAPI.
 */
export function route<
  const P extends Parameters = Parameters,
  const Q extends Parameters = Parameters,
  const B extends SchemaName | 'raw' | undefined = undefined,
  const R extends SchemaName | 'bytes' = 'bytes',
>(definition: RouteDefinition<P, Q, B, R>): Route {
  const { handle, body, ...rest } = definition
  return {
    open: false,
    reply_type: 'application/json',
    status: 200,
    errors: [],
    hot: false,
    ...rest,
    params: definition.params ?? {},
    query: definition.query ?? {},
    ...(body !== undefined && { body }),
    // Registration fills the context from this very definition, so its types hold.
    handle,
  }
}
