import { withoutOwnKeys } from '../schema/config-keys.ts'
import type { SchemaTypes } from '../schema/types.gen.ts'
import type { Assistant } from './assistant-store.ts'

/** An assistant as the deployment API shows it (run-api 1.12). */
export function assistantJson(assistant: Assistant): SchemaTypes['assistant'] {
  return {
    ...assistant,
    config: withoutOwnKeys(assistant.config),
    created_at: new Date(assistant.created_at).toISOString(),
    updated_at: new Date(assistant.updated_at).toISOString(),
  }
}
