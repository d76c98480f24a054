/** Columns of the list, besides one for each key of the metadata (`metadata.KEY`). */
export const COLUMN_IDS = [
  'status',
  'name',
  'type',
  'input',
  'output',
  'failed',
  'start',
  'latency',
  'deviation',
  'ttft',
  'speed',
  'tokens',
  'prompt',
  'completion',
  'cost',
  'model',
  'provider',
  'checks',
  'tags',
  'feedback',
  'thread',
] as const

export type ColumnId = (typeof COLUMN_IDS)[number]

/** The columns of a list by default. */
export const USUAL_COLUMNS: readonly string[] = [
  'status',
  'name',
  'input',
  'output',
  'failed',
  'start',
  'latency',
  'ttft',
  'tokens',
  'cost',
  'model',
  'checks',
]

const METADATA = 'metadata.'

export function metadataColumn(key: string): string {
  return METADATA + key
}

/** The key of the metadata that a column shows; undefined for built-in columns. */
export function metadataKey(id: string): string | undefined {
  return id.startsWith(METADATA) && id.length > METADATA.length ? id.slice(METADATA.length) : undefined
}

export function isColumnId(id: string): id is ColumnId {
  return COLUMN_IDS.some((known) => known === id)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

/** The columns that a text of the address names, each once. If it names no known column, the default columns. */
export function readColumns(text: string): readonly string[] {
  const ids = [...new Set(text.split(',').map(decoded))]
  const found = ids.filter((id) => isColumnId(id) || metadataKey(id) !== undefined)
  return found.length === 0 ? USUAL_COLUMNS : found
}

/** The text for the address; undefined for the default columns, which are not written. */
export function writeColumns(ids: readonly string[]): string | undefined {
  const text = ids.map(encodeURIComponent).join(',')
  return text === USUAL_COLUMNS.join(',') ? undefined : text
}

/** The columns that can be added: built-in ones, and one for each of these keys of metadata. */
export function otherColumns(ids: readonly string[], metadataKeys: readonly string[]): string[] {
  return [...COLUMN_IDS, ...metadataKeys.map(metadataColumn)].filter((id) => !ids.includes(id))
}
