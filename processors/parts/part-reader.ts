import type { Issue } from '../../src/schema/issue.ts'
import type { JsonObject, JsonValue } from '../../src/schema/json.ts'
import type { ContentBlock } from '../../src/schema/types.gen.ts'

/**
 * Reads one content part of one vendor. Returns a block; `null` for a part without content; `undefined` for a part
 * whose shape does not fit its type, which is kept unchanged.
 */
export type PartReader = (part: JsonObject, path: string, issues: Issue[]) => ContentBlock | null | undefined

/** Readers by the part's `type`, or in formats without types, by a distinctive key. */
export type PartReaders = readonly (readonly [string, PartReader])[]

/** The result of a tool call, which some vendors send as a content part; it becomes a separate message. */
export interface ToolAnswer {
  tool_call_id: JsonValue | undefined
  name: JsonValue | undefined
  content: JsonValue | undefined
  failed: boolean
}

export type AnswerReader = (part: JsonObject) => ToolAnswer

/** Result readers, as in `PartReaders`. */
export type AnswerReaders = readonly (readonly [string, AnswerReader])[]
