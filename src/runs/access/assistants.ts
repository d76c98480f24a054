import { AppError } from '../../base/errors.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { Assistant, AssistantStore } from '../assistants/store.ts'
import type { Tenant } from '../model.ts'
import { type AccessEvent, type Ask, passesRuling } from './rulings.ts'

/** Assistants with the permissions of one user. */
export function assistantsFor(assistants: AssistantStore, ask: Ask): AssistantStore {
  /**
   * Returns the assistant, and the event's value after the handler's changes. Undefined if the user sees no such
   * assistant.
   */
  const find = async (
    tenant: Tenant,
    assistant_id: string,
    event: AccessEvent,
    asked: JsonObject = {},
  ): Promise<{ assistant: Assistant; value: JsonObject } | undefined> => {
    const ruling = await ask(event, { assistant_id, ...asked })
    const assistant = await assistants.get(tenant, assistant_id)
    if (assistant === undefined || !passesRuling(ruling, assistant.metadata)) return undefined
    return { assistant, value: ruling.value }
  }
  return {
    ensure: (tenant, made) => assistants.ensure(tenant, made),
    async create(tenant, assistant) {
      const { assistant_id, graph_id, name, description, config, context, metadata } = assistant
      const asked = { assistant_id, graph_id, name, description, config, context, metadata }
      const ruling = await ask('assistants:create', asked)
      const made = await assistants.create(tenant, { ...assistant, metadata: ruling.value.metadata })
      if (made.kind === 'created' || passesRuling(ruling, made.assistant.metadata)) return made
      throw new AppError('conflict', { message: 'Assistant already exists' })
    },
    async get(tenant, assistant_id) {
      return (await find(tenant, assistant_id, 'assistants:read'))?.assistant
    },
    async update(tenant, assistant_id, change) {
      const found = await find(tenant, assistant_id, 'assistants:update', { ...change })
      if (found === undefined) return undefined
      const metadata = found.value['metadata'] as JsonObject | undefined
      return assistants.update(tenant, assistant_id, { ...change, ...(metadata && { metadata }) })
    },
    async setLatest(tenant, assistant_id, version) {
      const found = await find(tenant, assistant_id, 'assistants:update', { version })
      return found && assistants.setLatest(tenant, assistant_id, version)
    },
    async versions(tenant, assistant_id, page) {
      const found = await find(tenant, assistant_id, 'assistants:read')
      return found && assistants.versions(tenant, assistant_id, page)
    },
    async remove(tenant, assistant_id) {
      const found = await find(tenant, assistant_id, 'assistants:delete')
      return found !== undefined && assistants.remove(tenant, assistant_id)
    },
    async search(tenant, search) {
      const { graph_id, metadata = {}, limit, offset } = search
      const asked = { metadata, limit, offset, ...(graph_id !== undefined && { graph_id }) }
      const { visible } = await ask('assistants:search', asked)
      return assistants.search(tenant, { ...search, visible })
    },
  }
}
