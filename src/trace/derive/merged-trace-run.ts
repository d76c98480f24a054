import type { Issue } from '../../schema/issue.ts'
import type { JsonObject, JsonValue } from '../../schema/json.ts'
import type { BigField, StoredFragment } from '../rows/fragment.ts'

/** An attachment of a TraceRun; its bytes are in the blob store under `sha256`. */
export interface Attachment {
  mime_type: string
  size: number
  sha256: string
}

/** The content of one fragment without its big fields. */
export interface FragmentFacts
  extends Pick<StoredFragment, 'rank' | 'received_at' | 'project_id' | 'user_id' | 'api_key_id'> {
  start_time: JsonValue | undefined
  head: JsonObject | undefined
}

/** One TraceRun, merged from all of its fragments, independently of their order of arrival. */
export interface MergedTraceRun {
  workspace_id: string
  id: string
  /** NIL_UUID while no fragment names a project. */
  project_id: string
  user_id: string
  api_key_id: string
  /** Receive time of the earliest fragment, epoch milliseconds. */
  received_at: number
  /** Number of distinct fragments. It grows with every new fragment, so it is the version of the derived row. */
  fragments: number
  /** True once a create, or an update with all fields of a create, has arrived. */
  created: boolean
  /** True for a span that a filter of its project left out: it has no row, and its children take its place. */
  filtered: boolean
  /** The main fields; those of later fragments override earlier ones. */
  head: JsonObject
  /** Big fields as sent; absent when no fragment has them. */
  raw: Partial<Record<BigField, Uint8Array>>
  extra: JsonObject
  attachments: Record<string, Attachment>
  /**
   * The facts of each fragment. An earlier row may be stored under the start and project of any of them, and usage
   * counts each of them.
   */
  keys: FragmentFacts[]
  issues: Issue[]
}
