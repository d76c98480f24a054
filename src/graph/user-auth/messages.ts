import type { ErrorCode } from '../../base/errors.ts'
import type { AccessUser } from '../../runs/model.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { GraphLogLine } from '../host/logger.ts'
import {
  type HeadChecks,
  isId,
  isFields,
  isFieldsOrNull,
  isText,
  isTexts,
  maybe,
  objectWith,
} from '../pool/heads.ts'
import { LOG_LINE, REFUSAL } from '../pool/messages.ts'

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

/** Messages from the process of a deployment's auth file to the server. */
export type FromUserAuth =
  /** `handlers`: the names of the registered handlers of events. */
  | { type: 'opened'; handlers: string[] }
  | { type: 'failed'; message: string }
  /** A line logged by a handler. */
  | ({ type: 'log' } & GraphLogLine)
  /** `user` is null if the request is not authenticated. */
  | { type: 'user'; id: number; user: AccessUser | null }
  /**
   * `value` contains the fields that the handler has changed. `in_part` names a field whose JSON text is in the part of
   * the frame instead.
   */
  | { type: 'answer'; id: number; filter: JsonObject | null; value: JsonObject; in_part?: string }
  | { type: 'refused'; id: number; code: ErrorCode; message: string }

const isUser = objectWith({ identity: isText, display_name: isText, permissions: isTexts })

export const FROM_USER_AUTH_HEADS: HeadChecks = {
  opened: { handlers: isTexts },
  failed: { message: isText },
  log: LOG_LINE,
  user: { id: isId, user: maybe(isUser) },
  answer: { id: isId, filter: isFieldsOrNull, value: isFields, in_part: maybe(isText) },
  refused: REFUSAL,
}
