/** One content block of a message; any field but `type` may be missing. */
export type Block = Readonly<Record<string, unknown>> & { type: string }

/** A message in the canonical format. */
export interface Message {
  role: string
  content: readonly Block[]
  name?: string
  tool_call_id?: string
}
