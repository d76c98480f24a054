import type { Issue } from '../../src/schema/issue.ts'
import type { JsonObject, JsonValue } from '../../src/schema/json.ts'
import type { ContentBlock } from '../../src/schema/types.gen.ts'

/**
 * Reads one content part of one vendor: a block, `null` for a part that says nothing, `undefined` for a
 * part that does not look as its type promises (it is then kept as it came).
 */
export type PartReader = (part: JsonObject, path: string, issues: Issue[]) => ContentBlock | null | undefined

/** Readers by the part's `type`, or by the key that stands for a type in formats without one. */
export type PartReaders = readonly (readonly [string, PartReader])[]

/** The answer to a tool call that some vendors send as a content part; it becomes a message of its own. */
export interface ToolAnswer {
  tool_call_id: JsonValue | undefined
  name: JsonValue | undefined
  content: JsonValue | undefined
  failed: boolean
}

/** Finds the answer in such a part. */
export type AnswerReader = (part: JsonObject) => ToolAnswer

/** Answer readers, as in `PartReaders`. */
export type AnswerReaders = readonly (readonly [string, AnswerReader])[]
