import { parseUuid } from '../../base/ids.ts'
import type { Reachable } from '../access/deployment-for.ts'
import type { AssistantStore } from './store.ts'
import { systemAssistantId } from './system.ts'

/** Returns a function that finds an assistant by its id, or the default assistant of a graph by the graph's name. */
export function assistantFinder(
  assistants: Pick<AssistantStore, 'get'>,
  host: { graphs(): readonly { graph_id: string }[] },
  hasGraph?: (graph_id: string) => Promise<boolean>,
): Reachable['findAssistant'] {
  return async (tenant, asked) => {
    const id = parseUuid(asked)
    if (id !== undefined) return assistants.get(tenant, id)
    const isGraph = host.graphs().some(({ graph_id }) => graph_id === asked)
    return isGraph || (await hasGraph?.(asked)) ? assistants.get(tenant, systemAssistantId(asked)) : undefined
  }
}
