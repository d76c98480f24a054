import type { SearchField } from '../../../trace/filter/filter.ts'

/** Payloads that a search reads, each as an expression over a row of table `run_fragments`. */
const PAYLOADS = {
  inputs: 'inputs',
  outputs: 'outputs',
  error: 'error',
  metadata: "JSONExtractRaw(extra, 'metadata')",
} as const
type Payload = keyof typeof PAYLOADS

/** The expression of index `words` of table `run_fragments`; must be the same as in migration 0013. */
export const SEARCHED_TEXT = `lowerUTF8(concat(inputs, ' ', outputs, ' ', error, ' ', if(startsWith(extra, '\\0'), extra, JSONExtractRaw(extra, 'metadata'))))`

/** The expression of index `words` of table `runs`; must be the same as in migration 0015. */
export const ROW_TEXT = `lowerUTF8(concat(name, ' ', error, ' ', inputs_preview, ' ', outputs_preview, ' ', arrayStringConcat(mapKeys(metadata), ' '), ' ', arrayStringConcat(mapValues(metadata), ' ')))`

/** True for a field whose text is part of ROW_TEXT. */
export function isInRowText(field: SearchField): boolean {
  return field === 'name' || isPayload(field)
}

/** Settings of statements with a search: the index is used for short words too, such as Chinese ones. */
export const SEARCH_SETTINGS = { text_index_like_min_pattern_length: 2 } as const

/**
 * Block size of a statement that reads payloads. Its conditions copy the payloads several times, so a larger block
 * would not fit into memory.
 */
export const FEW_AT_A_TIME = 'SETTINGS max_block_size = 500'

/** Maximum number of words that one condition looks up in the index; the text as a whole is compared in any case. */
const MAX_WORDS = 3
/** Minimum length of ASCII words that are looked up, because too many tokens contain a shorter word. */
const MIN_ASCII = 3

/** Sequences of ASCII letters and digits, and sequences of non-ASCII characters. */
const WORDS = /[a-z0-9]+|[^\p{ASCII}]+/giu
const LETTER = /[\p{L}\p{M}\p{N}]/u
/** Letters whose lower case differs between implementations. */
const UNSETTLED = /[σςΣıİſ\u212a\u212b]/

/**
 * SQL condition on rows of `run_fragments`: one of the fields, with JSON escapes decoded, contains the text, ignoring
 * case. `bind` adds a parameter and returns its placeholder.
 */
export function payloadSql(
  fields: readonly SearchField[],
  text: string,
  bind: (value: unknown, type: string) => string,
): string {
  const payloads = fields.filter(isPayload)
  const needle = bind(text, 'String')
  const contains = (sql: string): string => `positionCaseInsensitiveUTF8(${sql}, ${needle}) > 0`
  const found = payloads.map((field) => contains(decodedSql(PAYLOADS[field])))
  // A span has all its payloads together in `extra`, so `extra` is searched only if all payload fields are searched.
  if (payloads.length === Object.keys(PAYLOADS).length)
    found.push(`(startsWith(extra, '\\0') AND (${contains('extra')} OR ${contains(decodedSql('extra'))}))`)
  return `(${found.join(' OR ')})`
}

/**
 * SQL condition on rows of `runs`, for which the index is used: the text of the row contains all these words. `bind` as
 * in payloadSql.
 */
export function rowWordsSql(
  words: readonly string[],
  bind: (value: unknown, type: string) => string,
): string {
  return words.map((word) => containsWord(ROW_TEXT, word, bind)).join(' AND ')
}

function containsWord(sql: string, word: string, bind: (value: unknown, type: string) => string): string {
  return `${sql} LIKE ${bind(`%${word}%`, 'String')}`
}

export function isPayload(field: SearchField): field is Payload {
  return Object.hasOwn(PAYLOADS, field)
}

/**
 * SQL of JSON as text, without the quotes around strings and with escapes decoded. The whole document is decoded as if
 * it were the content of one string. JSON that ClickHouse cannot decode stays unchanged.
 */
function decodedSql(json: string): string {
  const content = `replaceRegexpAll(${json}, '(\\\\\\\\.)|["\\\\x00-\\\\x1f]', '\\\\1')`
  const decoded = `JSONExtractString(concat('"', ${content}, '"'))`
  return `if(position(${json}, '\\\\') = 0, replaceAll(${json}, '"', ''), ifNull(nullIf(${decoded}, ''), ${json}))`
}

/** As rowWordsSql, for rows of `run_fragments`. */
export function fragmentWordsSql(
  words: readonly string[],
  bind: (value: unknown, type: string) => string,
): string {
  const has = (word: string): string => containsWord(SEARCHED_TEXT, word, bind)
  const conditions = words.map((word) => {
    if (isAscii(word)) return has(word)
    // Clients may write non-ASCII letters as JSON escapes. The escape of an upper-case letter differs from that of the
    // lower-case letter, so both are searched.
    const escapes = Array.from(word)
      .slice(0, MAX_WORDS)
      .map((letter) => {
        const spelt = new Set([letter, letter.toUpperCase()])
        return `(${[...spelt].flatMap(escapesOf).map(has).join(' OR ')})`
      })
    return `(${has(word)} OR (${escapes.join(' AND ')}))`
  })
  return conditions.join(' AND ')
}

/**
 * The longest words of the text, in lower case, each of which must be within one token of the index. Empty if the index
 * cannot be used for this text.
 */
export function wordsOf(text: string): string[] {
  const words = (text.match(WORDS) ?? []).flatMap((word) => (isAscii(word) ? [word] : settledParts(word)))
  const ascii = words.filter((word) => isAscii(word) && word.length >= MIN_ASCII)
  const usable = ascii.length > 0 ? ascii : words.filter((word) => !isAscii(word))
  return [...new Set(usable.map((word) => word.toLowerCase()))]
    .toSorted((a, b) => b.length - a.length)
    .slice(0, MAX_WORDS)
}

/** The parts of a word whose letters have the same lower case in all implementations. */
function settledParts(word: string): string[] {
  const parts = ['']
  for (const letter of word) {
    if (isSettled(letter)) parts[parts.length - 1] += letter
    else parts.push('')
  }
  return parts.filter((part) => part !== '')
}

function isSettled(letter: string): boolean {
  if (!LETTER.test(letter) || UNSETTLED.test(letter)) return false
  const [low, high] = [letter.toLowerCase(), letter.toUpperCase()]
  return low.length === letter.length && high.length === letter.length && high.toLowerCase() === low
}

/** The token of a letter's JSON escape, such as `u00e9`. For a surrogate pair: the token of its second half. */
function escapesOf(letter: string): string[] {
  const units = Array.from({ length: letter.length }, (_, i) => letter.charCodeAt(i))
  return [`u${units.at(-1)!.toString(16).padStart(4, '0')}`]
}

function isAscii(word: string): boolean {
  return /^[a-z0-9]+$/i.test(word)
}
