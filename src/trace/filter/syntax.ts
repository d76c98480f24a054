import { AppError } from '../../base/errors.ts'

/** An element of an expression; `at` is its position, counted in characters from 1. */
interface Placed {
  at: number
}

/** Text, a number, true, false or null; `source` is its spelling in the expression, without quotes. */
export interface FilterLiteral extends Placed {
  kind: 'literal'
  value: string | number | boolean | null
  source: string
}

/** `name(argument, …)`. */
export interface FilterCall extends Placed {
  kind: 'call'
  name: string
  args: FilterArgument[]
}

/** An argument between the parentheses of a call. */
export type FilterArgument =
  | FilterCall
  | FilterLiteral
  | ({ kind: 'name'; name: string } & Placed)
  | ({ kind: 'list'; items: FilterLiteral[] } & Placed)

const MAX_LENGTH = 8192
const MAX_DEPTH = 32
const MAX_CALLS = 200

const SPACE = /\s*/y
const QUOTED = /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'/suy
/**
 * Words, including unquoted times, durations and uuids, since no other element of the language contains `:`, `+` or
 * `-`.
 */
const WORD = /[\w.:+-]+/y
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const NAME = /^[A-Za-z_]\w*$/
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(["'\\/bfnrt]))/g
const ESCAPED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }
/** Constants, also in Python's spelling, because filters are often built with f-strings. */
const CONSTANTS: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['null', null],
  ['None', null],
])

/** The error for an invalid filter, with position and reason. */
export function badFilter(at: number, message: string): AppError {
  return new AppError('invalid_request', {
    message: `The filter cannot be read at character ${at}: ${message}`,
    details: { at },
  })
}

/**
 * Reads `name(argument, …)` in LangSmith's trace query syntax, without checking the names. Takes time linear in the
 * length. Throws AppError `invalid_request` for invalid text, and for more than 8,192 characters, 32 levels or 200
 * calls.
 */
export function readFilterSyntax(text: string): FilterCall {
  if (text.length > MAX_LENGTH) {
    throw badFilter(MAX_LENGTH + 1, `it has ${text.length} characters, ${MAX_LENGTH} at most are read.`)
  }
  const reader = new SyntaxReader(text.toWellFormed())
  const argument = reader.argument(1)
  if (argument.kind !== 'call') {
    throw badFilter(argument.at, 'expected a condition such as eq(run_type, "llm").')
  }
  reader.end()
  return argument
}

class SyntaxReader {
  private readonly text: string
  private index = 0
  private calls = 0

  constructor(text: string) {
    this.text = text
  }

  argument(depth: number): FilterArgument {
    const at = this.start()
    if (this.text[this.index] === '[') return this.list(at)
    const literal = this.quoted(at)
    if (literal) return literal
    const word = this.take(WORD)
    if (!word) throw badFilter(at, `expected a condition, a field or a value${this.found()}`)
    if (NAME.test(word[0]) && this.takes('(')) return this.call(word[0], at, depth)
    return unquotedWord(word[0], at)
  }

  /** Throws if any text follows the expression. */
  end(): void {
    const at = this.start()
    if (this.index === this.text.length) return
    throw badFilter(at, `expected the end; join conditions with and(…) or or(…)${this.found()}`)
  }

  private call(name: string, at: number, depth: number): FilterCall {
    if (depth > MAX_DEPTH) throw badFilter(at, `conditions are nested more than ${MAX_DEPTH} deep.`)
    if (++this.calls > MAX_CALLS) throw badFilter(at, `there are more than ${MAX_CALLS} conditions.`)
    const args: FilterArgument[] = []
    if (this.takes(')')) return { kind: 'call', name, args, at }
    do args.push(this.argument(depth + 1))
    while (this.takes(','))
    this.expect(')', `"," or ")" in ${name}(…)`)
    return { kind: 'call', name, args, at }
  }

  private list(at: number): FilterArgument {
    this.index++
    const items: FilterLiteral[] = []
    if (this.takes(']')) return { kind: 'list', items, at }
    do items.push(this.literal())
    while (this.takes(','))
    this.expect(']', '"," or "]" in the list')
    return { kind: 'list', items, at }
  }

  private literal(): FilterLiteral {
    const at = this.start()
    const quoted = this.quoted(at)
    if (quoted) return quoted
    const word = this.take(WORD)
    if (!word) throw badFilter(at, `expected a value${this.found()}`)
    const argument = unquotedWord(word[0], at)
    if (argument.kind !== 'literal') throw badFilter(at, `expected a value; text needs quotes: "${word[0]}".`)
    return argument
  }

  private quoted(at: number): FilterLiteral | undefined {
    const quote = this.text[this.index]
    if (quote !== '"' && quote !== "'") return undefined
    const match = this.take(QUOTED)
    if (!match) throw badFilter(at, `the text that starts here has no closing ${quote}.`)
    const source = match[1] ?? match[2] ?? ''
    return { kind: 'literal', value: unescape(source), source, at }
  }

  /** Skips white space; returns the position of the next element. */
  private start(): number {
    this.take(SPACE)
    return this.index + 1
  }

  private take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.index
    const match = pattern.exec(this.text)
    if (match) this.index = pattern.lastIndex
    return match
  }

  private takes(character: string): boolean {
    this.take(SPACE)
    if (this.text[this.index] !== character) return false
    this.index++
    return true
  }

  private expect(character: string, what: string): void {
    if (!this.takes(character)) throw badFilter(this.index + 1, `expected ${what}${this.found()}`)
  }

  private found(): string {
    const code = this.text.codePointAt(this.index)
    return code === undefined ? ', found the end.' : `, found ${JSON.stringify(String.fromCodePoint(code))}.`
  }
}

/** Reads a word without quotes and parentheses. */
function unquotedWord(word: string, at: number): FilterArgument {
  if (NUMBER.test(word)) return { kind: 'literal', value: Number(word), source: word, at }
  const constant = CONSTANTS.get(word)
  if (constant !== undefined) return { kind: 'literal', value: constant, source: word, at }
  if (NAME.test(word)) return { kind: 'name', name: word, at }
  if (/^\d/.test(word)) return { kind: 'literal', value: word, source: word, at }
  throw badFilter(at, `expected a field or a value; text needs quotes: "${word}".`)
}

/** Decodes the escapes of JSON, and `\'`; a backslash before any other character is kept. */
function unescape(source: string): string {
  if (!source.includes('\\')) return source
  return source
    .replace(ESCAPE, (_, hex: string | undefined, letter: string) =>
      hex === undefined ? (ESCAPED[letter] ?? letter) : String.fromCharCode(Number.parseInt(hex, 16)),
    )
    .toWellFormed()
}
