import type { JsonValue } from '../../../schema/json.ts'

/** The two forms of the protocol; the method of a request decides. */
export type Version = '0.3' | '1.0'

/** States of tasks by their names in 0.3. */
export type TaskState = 'submitted' | 'working' | 'input-required' | 'completed' | 'canceled' | 'failed'

/** A part of a message or artifact. A file has its bytes in base64, or an address. */
export type Part =
  | { text: string }
  | { data: JsonValue }
  | { file: { raw: string } | { url: string }; mediaType?: string; filename?: string }

export interface AgentMessage {
  messageId: string
  contextId: string
  /** Undefined for messages of other tasks of the context. */
  taskId?: string
  role: 'user' | 'agent'
  parts: Part[]
}

export interface Artifact {
  artifactId: string
  name: string
  description?: string
  parts: Part[]
}

export interface TaskStatus {
  state: TaskState
  /** ISO 8601. */
  timestamp: string
  message?: AgentMessage
}

export interface Task {
  id: string
  contextId: string
  status: TaskStatus
  artifacts?: Artifact[]
  history?: AgentMessage[]
}

/** An item of a stream. */
export type TaskEvent =
  | { task: Task }
  | { status: TaskStatus; taskId: string; contextId: string; final: boolean }
  | { artifact: Artifact; taskId: string; contextId: string }

const FINISHED: ReadonlySet<TaskState> = new Set(['completed', 'canceled', 'failed'])

/** Whether nothing more can happen to a task. A task that requires input is not finished. */
export function isFinished(state: TaskState): boolean {
  return FINISHED.has(state)
}
