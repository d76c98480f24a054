/** The beginning of JSON that contains texts; a text such as `[1] a title` does not match. */
const JSON_START = /^\s*(?:\{\s*["}]|\[\s*["{[\]])/
const TOKEN = /"((?:[^"\\]|\\.)*)"?|[{}[\],:]|[^\s{}[\],:"]+/gs
const PAUSES: Readonly<Record<string, string>> = { ':': ': ', ',': ', ' }

/** Decodes the escapes of a JSON text. A text that ends within an escape is returned unchanged. */
function unescaped(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return text
  }
}

/** Bold text of Markdown; `2**3**4` is not bold. */
const BOLD = /(?<![\w*])\*\*(?=\S)([^*]+)(?<=\S)\*\*(?![\w*])/g

function cellsText(cells: string): string {
  return cells
    .split('|')
    .map((cell) => cell.trim())
    .join(' · ')
}

/** The line below the head of a table. */
const RULE = /^[ \t]*\|[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*(?:\n|$)/gm
/** A row of a table, without the bars at its ends. */
const ROW = /^[ \t]*\|(.+?)\|?[ \t]*$/gm
const HEADING = /^#{1,6}[ \t]+/gm

/**
 * The beginning of a payload for a line of a list, as `plainPreview` writes it, without the marks of headings, tables
 * and bold text.
 */
export function previewText(preview: string): string {
  const plain = plainPreview(preview).replace(BOLD, '$1').replace(HEADING, '')
  if (!plain.includes('|')) return plain
  return plain.replace(RULE, '').replace(ROW, (_, cells: string) => cellsText(cells))
}

/**
 * Makes JSON readable: without quotes, escapes and outer brackets. An object with one member is shown as the value of
 * this member. The JSON may be cut off. Other texts are returned unchanged.
 */
function plainPreview(preview: string): string {
  if (!JSON_START.test(preview)) return preview
  const tokens = [...preview.matchAll(TOKEN)]
  let depth = 0
  let text = ''
  for (const [token, string] of tokens) {
    if (/^[}\]]/.test(token)) depth -= 1
    const isOuter = depth === 0 && /^[{}[\]]/.test(token)
    if (/^[{[]/.test(token)) depth += 1
    if (!isOuter) text += string === undefined ? (PAUSES[token] ?? token) : unescaped(string)
  }
  const [, key, colon, value, next] = tokens.map(([token]) => token)
  const isOne = key?.startsWith('"') === true && colon === ':' && value?.startsWith('"') === true
  const isLast = next === undefined || next === '}'
  return isOne && isLast ? text.slice(unescaped(key.slice(1, -1)).length + 2) : text
}
