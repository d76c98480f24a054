import { firstEntries } from '../json/json-text.ts'

/** A document of a retriever, in the form of LangChain. */
export interface FoundDocument {
  page_content: string
  metadata?: unknown
  score?: unknown
}

function isDocument(value: unknown): value is FoundDocument {
  return (
    typeof value === 'object' && value !== null && typeof (value as FoundDocument).page_content === 'string'
  )
}

/** Maximum number of keys among which a list of documents is searched. */
const MOST_KEYS = 100

/** Documents that a retriever returned: a list, or a list under a key such as `documents`. */
export function documentsOf(value: unknown): readonly FoundDocument[] {
  const lists = Array.isArray(value) ? [value] : firstEntries(value, MOST_KEYS).entries.map(([, one]) => one)
  const found = lists.find((list) => Array.isArray(list) && list.length > 0 && list.every(isDocument))
  return (found ?? []) as FoundDocument[]
}
