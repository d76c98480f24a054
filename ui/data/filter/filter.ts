/** The clauses that a filter joins with `and`, as texts. Any other expression is a single clause. */
export function splitFilter(filter: string): string[] {
  const text = filter.trim()
  if (text === '') return []
  const inner = /^and\s*\(([\s\S]*)\)$/.exec(text)?.[1]
  const parts = inner === undefined ? undefined : splitArguments(inner)
  return parts === undefined || parts.some((part) => part === '') ? [text] : parts
}

export function joinFilter(clauses: readonly string[]): string {
  return clauses.length < 2 ? (clauses[0] ?? '') : `and(${clauses.join(', ')})`
}

/** Splits at commas outside of brackets and quotes; undefined if one of these is not closed. */
function splitArguments(text: string): string[] | undefined {
  const parts: string[] = []
  let [depth, start, quote] = [0, 0, '']
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? ''
    if (quote !== '') {
      if (sign === '\\') at += 1
      else if (sign === quote) quote = ''
    } else if (sign === '"' || sign === "'") quote = sign
    else if ('([{'.includes(sign)) depth += 1
    else if (')]}'.includes(sign)) depth -= 1
    else if (sign === ',' && depth === 0) {
      parts.push(text.slice(start, at).trim())
      start = at + 1
    }
    if (depth < 0) return undefined
  }
  if (depth !== 0 || quote !== '') return undefined
  return [...parts, text.slice(start).trim()]
}

const SIGNS: Readonly<Record<string, string>> = { eq: '=', neq: '≠', gt: '>', gte: '≥', lt: '<', lte: '≤' }

function unquoted(value: string): string {
  if (!/^(["']).*\1$/s.test(value)) return value
  try {
    return JSON.parse(value.startsWith("'") ? `"${value.slice(1, -1)}"` : value) as string
  } catch {
    return value.slice(1, -1)
  }
}

/** Operator and first two arguments of a clause, the second without quotes; '' for a missing part. */
export function clauseParts(clause: string): {
  operator: string
  first: string
  value: string
  isPair: boolean
} {
  const [, operator = '', inner = ''] = /^(\w+)\s*\(([\s\S]*)\)$/.exec(clause) ?? []
  const [first = '', second, ...more] = splitArguments(inner) ?? []
  return { operator, first, value: unquoted(second ?? ''), isPair: second !== undefined && more.length === 0 }
}

/** The metadata that `has` compares, as `metadata.env = prod`. */
function metadataText(json: string): string | undefined {
  try {
    const entries = Object.entries(JSON.parse(json) as Record<string, unknown>)
    return entries.map(([key, value]) => `metadata.${key} = ${String(value)}`).join(', ')
  } catch {
    return undefined
  }
}

const FLAG_TEXTS: Readonly<Record<string, string>> = {
  'eq(trace_failed, true)': 'a run of the trace failed',
  'eq(trace_failed, false)': 'no run of the trace failed',
}

/** A clause in readable form: `eq(run_type, "llm")` is `run_type = llm`. Other expressions are unchanged. */
export function clauseText(clause: string): string {
  const flag = FLAG_TEXTS[clause]
  if (flag !== undefined) return flag
  const parts = splitFilter(clause)
  if (parts.length > 1) return parts.map(clauseText).join(' and ')
  const { operator, first, value, isPair } = clauseParts(clause)
  if (operator === 'search' && !isPair && first !== '') return `text “${unquoted(first)}”`
  if (operator === 'has' && isPair)
    return (first === 'metadata' ? metadataText(value) : undefined) ?? `${first} has ${value}`
  if (operator === 'like' && isPair) return `${first} like ${value}`
  const sign = SIGNS[operator]
  return sign === undefined || !isPair ? clause : `${first} ${sign} ${value}`
}

/** A text with the quotes and escapes of the filter language. */
export function quoted(text: string): string {
  return JSON.stringify(text)
}

/** Whether a text is an expression; other texts are words to search for. */
export function isExpression(text: string): boolean {
  return /^(?:and|or|not|eq|neq|gt|gte|lt|lte|has|in|like|search|exists)\s*\(/.test(text.trim())
}

/** A clause that can be added, with its text in the list of suggestions. */
export interface Suggestion {
  clause: string
  hint: string
}

const COMMON: readonly Suggestion[] = [
  { clause: 'eq(trace_failed, true)', hint: 'traces with a failed run' },
  { clause: 'eq(status, "error")', hint: 'failed itself' },
  { clause: 'eq(run_type, "llm")', hint: 'model calls' },
  { clause: 'eq(run_type, "tool")', hint: 'tool calls' },
  { clause: 'gt(latency, "5s")', hint: 'slow runs' },
  { clause: 'gt(total_tokens, 10000)', hint: 'many tokens' },
  { clause: 'gt(total_cost, 0.01)', hint: 'expensive runs' },
  { clause: 'eq(check_usage, false)', hint: 'model calls without counted tokens' },
  { clause: 'eq(issue, "no_price")', hint: 'model calls without a price' },
]

export function searchFor(text: string): Suggestion {
  return { clause: `search(${quoted(text)})`, hint: 'in inputs, outputs and errors' }
}

/** Words of one search, at most. */
const MOST_WORDS = 8

/** Searches for a text: for its words in any order if it has several, and for exactly this text. */
function searchesFor(text: string): Suggestion[] {
  const whole = searchFor(text)
  const words = [...new Set(text.split(/\s+/))]
  if (words.length < 2 || words.length > MOST_WORDS) return [whole]
  const all = joinFilter(words.map((word) => searchFor(word).clause))
  return [
    { clause: all, hint: 'all of these words' },
    { ...whole, hint: 'exactly this text' },
  ]
}

/** The texts that a filter searches for with `search("…")`. */
export function searchedTexts(filter: string): string[] {
  return splitFilter(filter).flatMap((clause) => {
    const { operator, first, isPair } = clauseParts(clause)
    return operator === 'search' && !isPair && first !== '' ? unquoted(first) : []
  })
}

/**
 * Suggestions for typed text. For an expression, the expression itself. For any other text, searches for it, and
 * clauses in which usual fields have it as their value.
 */
export function suggest(typed: string): Suggestion[] {
  const text = typed.trim()
  if (text === '') return [...COMMON]
  if (isExpression(text)) return [{ clause: text, hint: 'filter expression' }]
  const value = quoted(text)
  return [
    ...searchesFor(text),
    { clause: `eq(name, ${value})`, hint: 'name of the run' },
    { clause: `eq(model, ${value})`, hint: 'model' },
    { clause: `has(tags, ${value})`, hint: 'tag' },
    { clause: `eq(thread_id, ${value})`, hint: 'thread' },
    { clause: `eq(metadata_key, ${value})`, hint: 'key of the metadata' },
    ...COMMON.filter(({ clause, hint }) => `${clause} ${hint}`.includes(text.toLowerCase())),
  ]
}
