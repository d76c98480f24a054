import type { JsonObject } from '../../schema/json.ts'

/** Semantic search in a deployment's long-term memory. */
export interface StoreIndex {
  /** Module and export of the deployment's embedding function, or of an instance of LangChain's Embeddings. */
  file: string
  name: string
  /** Paths of the fields to embed. */
  fields: string[]
}

const OWN = /^(.+\.(?:[cm]?[jt]sx?|py)):([^:]+)$/

/**
 * Reads `store.index` of langgraph.json with `embed: "file:export"`. Undefined if there is no index, and if `embed` is
 * the name of a provider: Weir does not support these.
 */
export function readStoreIndex(index: JsonObject | null): StoreIndex | undefined {
  const embed = index?.['embed']
  const fields = index?.['fields']
  const [, file, name] = typeof embed === 'string' ? (OWN.exec(embed) ?? []) : []
  if (file === undefined || name === undefined) return undefined
  return { file, name, fields: Array.isArray(fields) ? fields.map(String) : ['$'] }
}
