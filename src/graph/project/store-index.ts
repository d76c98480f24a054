import type { JsonObject } from '../../schema/json.ts'

/** Semantic search in a deployment's long-term memory. */
export interface StoreIndex {
  /**
   * Module and export of the deployment's embedding function, or of an instance of LangChain's Embeddings; or LangChain's
   * name of a model, such as `openai:text-embedding-3-small`, which only Python hosts can use.
   */
  embed: { file: string; name: string } | { model: string }
  /** Paths of the fields to embed. */
  fields: string[]
}

const OWN = /^(.+\.(?:[cm]?[jt]sx?|py)):([^:]+)$/
const MODEL = /^[a-z][\w-]*:.+$/

/** Reads `store.index` of langgraph.json. Undefined if there is no index. */
export function readStoreIndex(index: JsonObject | null): StoreIndex | undefined {
  const embed = index?.['embed']
  const fields = index?.['fields']
  if (typeof embed !== 'string') return undefined
  const [, file, name] = OWN.exec(embed) ?? []
  const own = file !== undefined && name !== undefined ? { file, name } : undefined
  if (own === undefined && !MODEL.test(embed)) return undefined
  return { embed: own ?? { model: embed }, fields: Array.isArray(fields) ? fields.map(String) : ['$'] }
}

/** Whether hosts of Python graphs make the vectors. */
export function embedsInPython(index: StoreIndex | undefined): boolean {
  return index !== undefined && ('model' in index.embed || index.embed.file.endsWith('.py'))
}
