import { clauseParts, quoted, type Suggestion } from '../filter.ts'

/** Fields whose values can be listed, by the word that users type before the colon. */
const FIELDS = {
  name: 'name',
  type: 'run_type',
  status: 'status',
  model: 'model',
  provider: 'provider',
  tag: 'tag',
  issue: 'issue',
  metadata: 'metadata_key',
  input_source: 'input_source',
  output_source: 'output_source',
  price: 'price_model_id',
  user: 'user',
  key: 'api_key',
} as const
type Word = keyof typeof FIELDS

/** A field whose values are to be listed. */
export interface AskedFacet {
  field: (typeof FIELDS)[Word] | 'metadata_value'
  /** Key of the metadata. */
  key?: string
  prefix: string
  /** The clause for a value; for a key of the metadata, the text that lists the values of this key. */
  clauseOf(value: string): string
}

const METADATA = 'metadata.'

/** The field that a typed text names, as `model: gpt` or `metadata.env:`; undefined for other texts. */
export function facetOf(typed: string): AskedFacet | undefined {
  const [, word = '', rest = ''] = /^\s*(metadata\.[^:]+|\w+)\s*:\s*(.*)$/s.exec(typed) ?? []
  const prefix = rest.trimEnd()
  if (word.startsWith(METADATA)) {
    const key = word.slice(METADATA.length)
    const clauseOf = (value: string): string => `has(metadata, ${quoted(JSON.stringify({ [key]: value }))})`
    return { field: 'metadata_value', key, prefix, clauseOf }
  }
  if (!Object.hasOwn(FIELDS, word)) return undefined
  const field = FIELDS[word as Word]
  if (field === 'metadata_key') return { field, prefix, clauseOf: (key) => `${METADATA}${key}: ` }
  const clauseOf = (value: string): string =>
    field === 'tag' ? `has(tags, ${quoted(value)})` : `eq(${field}, ${quoted(value)})`
  return { field, prefix, clauseOf }
}

/** The text that lists the values of a clause's field, such as `model: `; undefined for clauses of other forms. */
export function facetTextOf(clause: string): string | undefined {
  const { operator, first, value } = clauseParts(clause)
  if (operator === 'has' && first === 'tags') return 'tag: '
  if (operator === 'has' && first === 'metadata') {
    const key = onlyKeyOf(value)
    return key === undefined || key.includes(':') ? undefined : `${METADATA}${key}: `
  }
  if (operator !== 'eq') return undefined
  const word = Object.entries(FIELDS).find(([, field]) => field === first)?.[0]
  return word === undefined ? undefined : `${word}: `
}

function onlyKeyOf(json: string): string | undefined {
  try {
    const keys = Object.keys(JSON.parse(json) as object)
    return keys.length === 1 ? keys[0] : undefined
  } catch {
    return undefined
  }
}

const OFFERED: readonly (readonly [Word, string])[] = [
  ['name', 'by name of the run'],
  ['model', 'by model'],
  ['provider', 'by provider'],
  ['tag', 'by tag'],
  ['metadata', 'by key of the metadata'],
  ['issue', 'by issue'],
  ['type', 'by type'],
]

/** Suggestions that begin with the typed text, each of which starts a search of values. */
export function facetOffers(typed: string): Suggestion[] {
  const text = typed.trim().toLowerCase()
  return OFFERED.filter(([word]) => word.startsWith(text)).map(([word, hint]) => ({
    clause: `${word}: `,
    hint,
  }))
}
