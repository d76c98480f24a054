import { randomUUID } from 'node:crypto'

/**
 * Longest value of a form's field in bytes. ClickHouse refuses a longer one (http_max_field_value_size; only the
 * profile of a server can raise it).
 */
export const MAX_FIELD_BYTES = 128 * 1024

export interface QueryForm {
  readonly type: string
  readonly body: string
}

type Field = readonly [name: string, value: string]

/**
 * A statement and its parameters as a multipart form. In a URL, long parameters would be refused by proxies, which
 * usually limit the request line to 8 or 16 KB. A list that is too long for one field is sent in several, of which the
 * statement makes one list again. ClickHouse joins several fields `query`.
 * @throws RangeError for a parameter without lists that is too long for a field
 */
export function queryForm(sql: string, params: Readonly<Record<string, unknown>>): QueryForm {
  let statement = sql
  const fields: Field[] = []
  for (const [name, value] of Object.entries(params)) {
    const texts = paramTexts(name, value)
    const names = texts.length === 1 ? [name] : texts.map((_, i) => `${name}__${i}`)
    if (texts.length > 1) statement = withParts(statement, name, names)
    fields.push(...texts.map((text, i) => [`param_${names[i]}`, text] as const))
  }
  const queries = inPieces(statement).map((piece) => ['query', piece] as const)
  const boundary = `weir-${randomUUID()}`
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: `${[...queries, ...fields].map((field) => partOf(boundary, field)).join('')}--${boundary}--\r\n`,
  }
}

function partOf(boundary: string, [name, value]: Field): string {
  return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
}

/** The texts of a parameter: several for a list that is too long for one field. */
function paramTexts(name: string, value: unknown): string[] {
  const text = paramText(value)
  if (Buffer.byteLength(text) <= MAX_FIELD_BYTES) return [text]
  if (!Array.isArray(value) || value.length < 2)
    throw new RangeError(`the parameter ${name} has more than ${MAX_FIELD_BYTES} bytes`)
  const middle = Math.ceil(value.length / 2)
  return [value.slice(0, middle), value.slice(middle)].flatMap((half) => paramTexts(name, half))
}

/** The statement with the list of several parameters in place of one. */
function withParts(sql: string, name: string, parts: readonly string[]): string {
  return sql.replaceAll(new RegExp(String.raw`\{${name}:([^}]+)\}`, 'g'), (_, type: string) => {
    return `arrayConcat(${parts.map((part) => `{${part}:${type}}`).join(', ')})`
  })
}

/** The text cut into pieces that fit into fields. */
function inPieces(text: string): string[] {
  if (Buffer.byteLength(text) <= MAX_FIELD_BYTES) return [text]
  const bytes = Buffer.from(text)
  let end = MAX_FIELD_BYTES
  while ((bytes[end]! & 0xc0) === 0x80) end--
  return [bytes.toString('utf8', 0, end), ...inPieces(bytes.toString('utf8', end))]
}

const ESCAPED: Readonly<Record<string, string>> = {
  '\t': String.raw`\t`,
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\0': String.raw`\0`,
  "'": String.raw`\'`,
  '\\': String.raw`\\`,
}

/** A parameter in ClickHouse's format Escaped. */
function paramText(value: unknown): string {
  if (value === null) return String.raw`\N`
  if (typeof value === 'string') return escaped(value)
  return Array.isArray(value) ? `[${value.map(elementText).join(',')}]` : plainText(value)
}

function elementText(value: unknown): string {
  if (typeof value === 'string') return `'${escaped(value)}'`
  return Array.isArray(value) ? `[${value.map(elementText).join(',')}]` : plainText(value)
}

function plainText(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (typeof value === 'boolean') return value ? '1' : '0'
  throw new TypeError(`not a parameter of ClickHouse: ${typeof value}`)
}

function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are escaped
  return text.replaceAll(/[\t\n\r\0'\\]/g, (character) => ESCAPED[character]!)
}
