import type { GraphAnswer, GraphEnd, GraphState } from '../../runs/execute/graph-host.ts'
import type { FromHost, StateHead } from './messages.ts'

export function readEnd(head: Extract<FromHost, { type: 'end' }>, parts: readonly Buffer[]): GraphEnd {
  const reported = { state: readState(head.state, parts), nodes: head.nodes ?? undefined }
  if (head.end.kind !== 'done') return { ...head.end, ...reported }
  const own = parts.at(-1)?.toString('utf8') ?? null
  const values =
    head.values === 'own' ? own : head.values === 'state' ? (reported.state?.values_json ?? null) : null
  return { kind: 'done', values, ...reported }
}

/** Reads the answer to a call from the host's message and its parts. */
export function readAnswer(
  head: Extract<FromHost, { type: 'answer' }>,
  parts: readonly Buffer[],
): GraphAnswer {
  const body = parts[0]?.toString('utf8') ?? 'null'
  const state = readState(head.state, parts.slice(1))
  return { body, ...(state && { state }), ...(head.next !== undefined && { next: head.next }) }
}

function readState(head: StateHead | null, [values, rest]: readonly Buffer[]): GraphState | undefined {
  if (head === null || values === undefined || rest === undefined) return undefined
  return { ...head, values_json: values.toString('utf8'), rest_json: rest.toString('utf8') }
}
