import type { ThreadRun } from '../../deployments/thread-run.ts'

export interface EarlierInput {
  run_id: string
  created_at: string
  input: Record<string, unknown>
  /** The JSON text of the input for a list, at most 80 characters. */
  preview: string
}

const PREVIEW_CHARS = 80

/** The inputs of runs, newest first, each once. Runs that continued without a new input are left out. */
export function earlierInputs(runs: readonly ThreadRun[], assistant: string): EarlierInput[] {
  const found = new Map<string, EarlierInput>()
  for (const { run_id, created_at, assistant_id, kwargs } of runs) {
    const input = kwargs?.['input']
    if (assistant_id !== assistant || typeof input !== 'object' || input === null || Array.isArray(input))
      continue
    const text = JSON.stringify(input)
    if (found.has(text)) continue
    const preview = text.length > PREVIEW_CHARS ? `${text.slice(0, PREVIEW_CHARS - 1)}…` : text
    found.set(text, { run_id, created_at, input: input as Record<string, unknown>, preview })
  }
  return [...found.values()]
}
