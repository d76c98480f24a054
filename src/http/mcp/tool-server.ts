import type { JsonObject } from '../../schema/json.ts'

/** A tool as `tools/list` returns it. */
export interface McpTool {
  name: string
  title?: string
  description: string
  inputSchema: JsonObject
  annotations: JsonObject
}

/** The result of a tool. Failures of a tool are results too, because models read them; only wrong calls are errors. */
export interface ToolResult {
  content: JsonObject[]
  isError?: boolean
  structuredContent?: JsonObject
}

/** A form for the user of the client: parameters of `elicitation/create`. */
export interface Form {
  message: string
  requestedSchema: JsonObject
}

/** What a tool asks the user before it goes on (rule MCP-8). */
export interface ToolQuestion {
  /** Forms by the id of what they ask. */
  forms: Readonly<Record<string, Form>>
  /** Sealed; whoever sends it back goes on with the call, once. */
  state: string
  /** Waits until another request has sent the answers. Absent where the client repeats the call with them. */
  answered?(): Promise<ToolOutcome>
}

export type ToolOutcome = ToolResult | ToolQuestion

export interface ToolCall {
  name: string
  args: JsonObject
  params: JsonObject
  /**
   * How the tool may ask the user: `again`: the client repeats the call with all answers; `stream`: the stream of the call
   * has one form after the other. Undefined: not at all.
   */
  asks?: 'again' | 'stream'
  /** The answers to a question, with which the client repeats the call. */
  answers?: { state: string; responses: JsonObject }
  /** Tells the client what the tool does now. Absent: the client does not ask for it. */
  tell?(message: string): void
}

/** The tools of one address, for one caller. */
export interface ToolServer {
  /** Name and version that clients show. */
  info: { name: string; version: string }
  /** How a model should use the tools. */
  instructions?: string
  /** A page of tools; without `nextCursor` it is the last one. @throws RpcFault invalid_params for an unknown cursor */
  list(cursor: string | undefined): Promise<{ tools: readonly McpTool[]; nextCursor?: string }>
  /** @throws RpcFault invalid_params for an unknown tool, or a wrong state */
  call(call: ToolCall): Promise<ToolOutcome>
  /** Takes the answer to a form that a stream has sent; `result` is undefined if the client could not show it. */
  answer?(state: string, result: JsonObject | undefined): Promise<void>
}
