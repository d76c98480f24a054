import { withoutOwnKeys } from '../../schema/config-keys.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import type { Assistant } from './store.ts'
import type { GraphInfo } from '../execute/graph-host.ts'

/** Load failures by `graph_id`. */
export type UnavailableGraphs = Readonly<Record<string, string>>

/** The graphs that could not be loaded. */
export function unavailableGraphs(graphs: readonly GraphInfo[]): UnavailableGraphs {
  return Object.fromEntries(
    graphs.flatMap(({ graph_id, unavailable }) => (unavailable === null ? [] : [[graph_id, unavailable]])),
  )
}

/** An assistant as the deployment API shows it. */
export function assistantJson(
  assistant: Assistant,
  unavailable: UnavailableGraphs,
): SchemaTypes['assistant'] {
  const reason = Object.hasOwn(unavailable, assistant.graph_id) ? unavailable[assistant.graph_id] : undefined
  return {
    ...assistant,
    ...(reason !== undefined && { weir: { unavailable: reason } }),
    config: withoutOwnKeys(assistant.config),
    created_at: new Date(assistant.created_at).toISOString(),
    updated_at: new Date(assistant.updated_at).toISOString(),
  }
}
