import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { ActsIn } from '../auth/authenticator.ts'
import type { Principal } from '../auth/principal.ts'
import type { ErrorCode } from '../base/errors.ts'
import type { SchemaName } from '../schema/registry.ts'
import type { SchemaTypes } from '../schema/types.gen.ts'
import type { AppDeps } from './app-deps.ts'
import type { Headers, LiveBody } from './exchange.ts'
import type { Parameters, ParameterValues } from './parameters.ts'
import type { Need } from './permissions.ts'

/** HTTP methods of routes; HEAD and OPTIONS are answered for every path. */
export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/** What a handler gets: everything checked and with its type. */
export interface RouteContext<P, Q, B, D = AppDeps> {
  deps: D
  principal: Principal
  params: ParameterValues<P>
  query: ParameterValues<Q>
  body: B
  req: IncomingMessage
  /** Aborted when the client leaves before its answer is complete. */
  gone(): AbortSignal
}

/** What a handler answers: JSON of the schema, or bytes with their type in `headers`. Status 200 unless said. */
export interface RouteReply<R> {
  status?: number
  headers?: Headers
  body: R
  /** Called once, when the answer has been taken or its client is gone: what it held may then be held by others. */
  sent?(): void
}

/**
 * Bytes pass through as they are: they were made off the event loop. For a text that comes later the headers are sent at
 * once, then a newline every 5 s until it is there.
 */
export type ReplyBytes = Uint8Array | string | Readable | Promise<string> | LiveBody

type BodyOf<B> = B extends SchemaName ? SchemaTypes[B] : B extends 'raw' ? Uint8Array : undefined
type ReplyOf<R> = R extends SchemaName ? SchemaTypes[R] : ReplyBytes

/** A route as it is described to readers. */
export interface RouteHead {
  method: Method
  /** With `{name}` for each path parameter; without prefix. */
  path: string
  summary: string
  description?: string
  tag: string
  params: Parameters
  query: Parameters
  /** Headers that it reads besides those that all do: what they are for, by name. */
  headers?: Readonly<Record<string, string>>
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
  /** What else it answers with success, by status: the schema, or null for no body. */
  other_replies?: Readonly<Record<number, SchemaName | null>>
  /** What else than the common errors it answers. */
  errors: readonly ErrorCode[]
  /** Matched in front of Express (facts: six times cheaper): documented here, handled by the ingest handler. */
  hot: boolean
}

/** Any route of an API that stands on `D`, its other types forgotten: what registration needs. */
export interface Route<D = AppDeps> extends RouteHead {
  /** Throws when the route is switched off; asked after the permission and before parameters are read. */
  available?(deps: D): void
  handle(context: RouteContext<Parameters, Parameters, unknown, D>): Promise<RouteReply<unknown>>
}

/** What the table of permissions says of a route. */
export interface RouteAccess {
  need: Need
  /** For keys of all workspaces only. */
  whole_organization: boolean
  acts_in: ActsIn
}

/** A described route with what it needs. */
export interface GuardedHead extends RouteHead {
  access: RouteAccess
}

/** A route that is in the table of permissions. */
export interface GuardedRoute<D = AppDeps> extends Route<D> {
  access: RouteAccess
}

/** A route as it is written down. */
export interface RouteDefinition<D, P, Q, B, R> {
  method: Method
  path: string
  summary: string
  description?: string
  tag: string
  params?: P
  query?: Q
  headers?: Readonly<Record<string, string>>
  body?: B
  reply: R
  reply_type?: string
  reply_schema?: SchemaName
  wire_types?: readonly string[]
  status?: number
  other_replies?: Readonly<Record<number, SchemaName | null>>
  errors?: readonly ErrorCode[]
  available?(deps: D): void
  hot?: boolean
  handle(context: RouteContext<P, Q, BodyOf<B>, D>): Promise<RouteReply<ReplyOf<R>>>
}

/**
 * Makes routes of an API that stands on `D`. Parameters and body are checked before `handle` runs; the type of the body and
 * of the answer come from the schemas' names. One definition serves registration, checks and OpenAPI.
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
      hot: false,
      ...rest,
      params: definition.params ?? {},
      query: definition.query ?? {},
      ...(body !== undefined && { body }),
      // Registration fills the context from this very definition, so its types hold.
      handle,
    }
  }
}

/** One route of the platform API. */
export function route<
  const P extends Parameters = Parameters,
  const Q extends Parameters = Parameters,
  const B extends SchemaName | 'raw' | undefined = undefined,
  const R extends SchemaName | 'bytes' = 'bytes',
>(definition: RouteDefinition<AppDeps, P, Q, B, R>): Route {
  return routeOn<AppDeps>()(definition)
}
