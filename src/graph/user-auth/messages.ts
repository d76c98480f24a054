import type { ErrorCode } from '../../base/errors.ts'
import type { AccessUser } from '../../runs/model.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { GraphLogLine } from '../host/logger.ts'

/** A request as passed to `authenticate`, without its body. */
export interface AuthRequest {
  /** Absolute URL. */
  url: string
  method: string
  headers: [name: string, value: string][]
}

/** Messages from the server to the process of a deployment's auth file. */
export type ToUserAuth =
  | { type: 'open'; file: string; module: string | null; export: string }
  | { type: 'authenticate'; id: number; request: AuthRequest }
  | { type: 'ask'; id: number; user: AccessUser; event: string; value: JsonObject }

/** Messages from that process to the server. */
export type FromUserAuth =
  /** `handlers` has the names of the handlers for calls. */
  | { type: 'opened'; handlers: string[] }
  | { type: 'failed'; message: string }
  /** A line logged by a handler. */
  | ({ type: 'log' } & GraphLogLine)
  /** Null: not authenticated. */
  | { type: 'user'; id: number; user: AccessUser | null }
  /** `value` has the fields that the handler has changed; a field named by `in_part` is JSON in the frame's part. */
  | { type: 'answer'; id: number; filter: JsonObject | null; value: JsonObject; in_part?: string }
  | { type: 'refused'; id: number; code: ErrorCode; message: string }
