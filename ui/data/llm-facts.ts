import type { Message } from '../api/messages.ts'
import type { TraceRunRead as ReadRun } from '../api/platform.gen.ts'

export interface RunIssue {
  code: string
  severity: 'error' | 'warning' | 'info'
  path: string
  message: string
  fix?: string
}

/** One of the four checks. */
export interface Verdict {
  ok: boolean
  reason?: string
}

/** The derived facts of a model call. */
export interface LlmFacts {
  provider?: string | null
  model?: string | null
  messages?: { input?: readonly Message[] | null; output?: readonly Message[] | null } | null
  usage_source?: { input?: string | null; output?: string | null } | null
  time_to_first_token_ms?: number | null
  tokens_per_second?: number | null
  checks?: Readonly<Record<string, Verdict>> | null
  issues?: readonly RunIssue[] | null
  input_format?: string | null
  output_format?: string | null
}

/** The facts of a model call; undefined for other runs. */
export function llmOf(run: ReadRun): LlmFacts | undefined {
  return run.llm ?? undefined
}

/** A field of a run that the schema does not name. */
export function fieldOf(run: ReadRun, name: string): unknown {
  return Object.entries(run).find(([key]) => key === name)?.[1]
}

export function issuesOf(run: ReadRun): readonly RunIssue[] {
  const own = fieldOf(run, 'issues')
  return [...(Array.isArray(own) ? (own as RunIssue[]) : []), ...(llmOf(run)?.issues ?? [])]
}
