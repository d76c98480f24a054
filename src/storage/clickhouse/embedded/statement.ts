/**
 * The kind of a SQL statement, for the embedded engine's lanes: `read` may be streamed and killed, `insert` has its
 * rows in the request body, `change` is everything else (DDL, inline inserts).
 */
export type Statement =
  | { readonly kind: 'read'; readonly sql: string; readonly format: string }
  | { readonly kind: 'insert'; readonly before: string; readonly after: string }
  | { readonly kind: 'change'; readonly sql: string }

const LEADING_NOISE = /^(?:\s+|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)+/
const TRAILING_NOISE = /[\s;]+$/
const READ_WORDS = new Set(['SELECT', 'WITH', 'SHOW', 'DESC', 'DESCRIBE', 'EXISTS', 'EXPLAIN', '('])
const FORMAT_CLAUSE = /\bFORMAT\s+([A-Za-z]\w*)(?=\s*(?:SETTINGS\b|$))/gi
const INSERT_FORMAT = /\s+FORMAT\s+([A-Za-z]\w*)$/i
const INSERT_VALUES = /\s+VALUES$/i
const INSERT_SETTINGS = /\s+SETTINGS\s+\w+\s*=/i

/**
 * Classifies one statement. `hasBody`: the request carries data besides the SQL; `defaultFormat` is the format of
 * results without a FORMAT clause. Never throws: an unknown statement is a `change`, and the engine's own parser
 * reports its errors.
 */
export function classifyStatement(text: string, hasBody: boolean, defaultFormat: string): Statement {
  const sql = text.replace(TRAILING_NOISE, '')
  const start = sql.replace(LEADING_NOISE, '')
  const word = start.startsWith('(') ? '(' : (/^\w+/.exec(start)?.[0] ?? '').toUpperCase()
  if (READ_WORDS.has(word)) return { kind: 'read', sql, format: lastFormat(sql) ?? defaultFormat }
  if (word === 'INSERT' && hasBody) return insertStatement(sql) ?? { kind: 'change', sql }
  return { kind: 'change', sql }
}

/**
 * Returns an insert that takes its rows from a file instead of the body. `FROM INFILE` accepts every format and sets
 * column defaults, as `INSERT … FORMAT` does. It is the engine's documented way to insert binary rows; inline inserts
 * accept only text formats.
 */
export function insertFromFile(statement: Statement & { kind: 'insert' }, file: string): string {
  return `${statement.before} FROM INFILE ${quoteSql(file)} COMPRESSION 'none'${statement.after}`
}

export function quoteSql(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\0', '\\0')}'`
}

/** A ClickHouse identifier in backquotes. */
export function quoteName(name: string): string {
  return `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``
}

function lastFormat(sql: string): string | undefined {
  return [...sql.matchAll(FORMAT_CLAUSE)].at(-1)?.[1]
}

function insertStatement(sql: string): Statement | undefined {
  const values = INSERT_VALUES.exec(sql)
  const named = INSERT_FORMAT.exec(sql)
  const clause = named ?? values
  if (clause === null) return undefined
  const format = named?.[1] ?? 'Values'
  const head = sql.slice(0, clause.index)
  const settings = INSERT_SETTINGS.exec(head)
  const end = settings?.index ?? head.length
  return { kind: 'insert', before: head.slice(0, end), after: `${head.slice(end)} FORMAT ${format}` }
}
