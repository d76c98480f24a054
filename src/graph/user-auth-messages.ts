import type { ErrorCode } from '../base/errors.ts'
import type { AccessUser } from '../runs/model.ts'
import type { JsonObject } from '../schema/json.ts'
import type { GraphLogLine } from './graph-logger.ts'

/** A request as `authenticate` sees it: no body. */
export interface RequestHead {
  /** Absolute. */
  url: string
  method: string
  headers: [name: string, value: string][]
}

/** From the server to the process of a deployment's auth file. */
export type ToUserAuth =
  | { type: 'open'; file: string; export: string }
  | { type: 'authenticate'; id: number; request: RequestHead }
  | { type: 'ask'; id: number; user: AccessUser; event: string; value: JsonObject }

/** And back. */
export type FromUserAuth =
  | { type: 'opened' }
  | { type: 'failed'; message: string }
  /** A handler has logged a line. */
  | ({ type: 'log' } & GraphLogLine)
  /** Null: not let in. */
  | { type: 'user'; id: number; user: AccessUser | null }
  | { type: 'answer'; id: number; filter: JsonObject | null; value: JsonObject }
  | { type: 'refused'; id: number; code: ErrorCode; message: string }
