/** A compiled pattern on model names. */
export interface PricePattern {
  /**
   * Whether the pattern occurs in `model`. The work is at most the size of the pattern times the length of the name.
   */
  test(model: string): boolean
}

/** Maximum length of a pattern in UTF-16 units, and maximum number of states after expanding repetitions. */
const MAX_SOURCE = 512
const MAX_STATES = 512
const MAX_DEPTH = 32
/** Number of UTF-16 units of a model name that are compared; the rest is ignored. */
const MAX_MODEL = 256

type Test = (code: number) => boolean
type Place = 'start' | 'end' | 'word' | 'not_word'

type Node =
  | { kind: 'set'; test: Test }
  | { kind: 'place'; place: Place }
  | { kind: 'all'; parts: Node[] }
  | { kind: 'any'; options: Node[] }
  | { kind: 'repeat'; node: Node; least: number; most: number }

/** One state of the automaton; `next` and `other` are numbers of states. */
type Step =
  | { kind: 'set'; test: Test; next: number }
  | { kind: 'place'; place: Place; next: number }
  | { kind: 'split'; next: number; other: number }
  | { kind: 'found' }

/**
 * Compiles a pattern of the bounded subset that price entries may use: literals, `.`, `^`, `$`, `\b`, classes, `\d \w
 * \s`, groups, `|`, `*`, `+`, `?`, `{n,m}` and a leading `(?i)`. It runs as an automaton without backtracking, since
 * patterns come from users. For syntax outside of the subset (look-around, back references), returns an error that
 * names it.
 */
export function compilePricePattern(source: string): PricePattern | { error: string } {
  try {
    if (source.length > MAX_SOURCE) throw new SyntaxError(`is longer than ${MAX_SOURCE} characters`)
    const ignoreCase = source.startsWith('(?i)')
    const node = new PatternParser(ignoreCase ? source.slice(4) : source, ignoreCase).parse()
    const steps: Step[] = []
    const first = emit(steps, node, push(steps, { kind: 'found' }))
    return { test: (model) => search(steps, first, model) }
  } catch (error) {
    if (error instanceof SyntaxError) return { error: error.message }
    throw error
  }
}

const CLASSES: Record<string, Test> = {
  d: (code) => code >= 48 && code <= 57,
  s: (code) => code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0xfeff,
  w: isWord,
}
const CONTROLS: Record<string, number> = { n: 10, r: 13, t: 9, f: 12, v: 11 }

function isWord(code: number): boolean {
  return (
    (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95
  )
}

class PatternParser {
  readonly #chars: string[]
  readonly #ignoreCase: boolean
  #at = 0

  constructor(source: string, ignoreCase: boolean) {
    this.#chars = Array.from(source)
    this.#ignoreCase = ignoreCase
  }

  parse(): Node {
    const node = this.#options(0)
    if (this.#at < this.#chars.length) throw new SyntaxError('has a ")" too many')
    return node
  }

  #options(depth: number): Node {
    if (depth > MAX_DEPTH) throw new SyntaxError('is nested too deeply')
    const options = [this.#sequence(depth)]
    while (this.#take('|')) options.push(this.#sequence(depth))
    return options.length === 1 ? options[0]! : { kind: 'any', options }
  }

  #sequence(depth: number): Node {
    const parts: Node[] = []
    for (let char = this.#peek(); char !== undefined && char !== '|' && char !== ')'; char = this.#peek())
      parts.push(this.#repeated(this.#atom(depth)))
    return { kind: 'all', parts }
  }

  #atom(depth: number): Node {
    const char = this.#chars[this.#at++]!
    if (char === '^') return { kind: 'place', place: 'start' }
    if (char === '$') return { kind: 'place', place: 'end' }
    if (char === '.') return { kind: 'set', test: (code) => code !== 10 && code !== 13 }
    if (char === '(') return this.#group(depth)
    if (char === '[') return { kind: 'set', test: this.#class() }
    if (char === '\\') return this.#escape()
    if ('*+?'.includes(char)) throw new SyntaxError(`has a "${char}" with nothing to repeat`)
    return { kind: 'set', test: this.#literal(char.codePointAt(0)!) }
  }

  #group(depth: number): Node {
    if (this.#take('?') && !this.#take(':')) throw new SyntaxError('may have only plain groups and "(?:…)"')
    const node = this.#options(depth + 1)
    if (!this.#take(')')) throw new SyntaxError('has a "(" without ")"')
    return node
  }

  #escape(): Node {
    const char = this.#chars[this.#at++]
    if (char === 'b') return { kind: 'place', place: 'word' }
    if (char === 'B') return { kind: 'place', place: 'not_word' }
    return { kind: 'set', test: this.#escapedSet(char).test }
  }

  /** The characters after a backslash as a set, and the code if the set is one character. */
  #escapedSet(char: string | undefined): { test: Test; code?: number } {
    if (char === undefined) throw new SyntaxError('ends with a backslash')
    const known = CLASSES[char.toLowerCase()]
    if (known) return { test: char === char.toLowerCase() ? known : (code) => !known(code) }
    const code = CONTROLS[char] ?? char.codePointAt(0)!
    if (CONTROLS[char] === undefined && isWord(code)) throw new SyntaxError(`may not have "\\${char}"`)
    return { test: this.#literal(code), code }
  }

  #class(): Test {
    const isNegated = this.#take('^')
    const tests: Test[] = []
    while (!this.#take(']')) {
      const from = this.#classItem()
      const isRange = from.code !== undefined && this.#peek() === '-' && this.#chars[this.#at + 1] !== ']'
      if (!isRange) {
        tests.push(from.test)
        continue
      }
      this.#at++
      const to = this.#classItem()
      if (to.code === undefined || to.code < from.code!) throw new SyntaxError('has a range that is none')
      tests.push(this.#range(from.code!, to.code))
    }
    const isIn: Test = (code) => tests.some((test) => test(code))
    return isNegated ? (code) => !isIn(code) : isIn
  }

  #classItem(): { test: Test; code?: number } {
    const char = this.#chars[this.#at++]
    if (char === undefined) throw new SyntaxError('has a "[" without "]"')
    if (char === '\\') return this.#escapedSet(this.#chars[this.#at++])
    const code = char.codePointAt(0)!
    return { test: this.#literal(code), code }
  }

  #literal(code: number): Test {
    return this.#range(code, code)
  }

  #range(from: number, to: number): Test {
    if (!this.#ignoreCase) return (code) => code >= from && code <= to
    const isIn: Test = (code) => code >= from && code <= to
    return (code) => isIn(code) || isIn(otherCase(code))
  }

  #repeated(node: Node): Node {
    const char = this.#peek()
    let bounds: [number, number] | undefined
    if (char === '*') bounds = [0, Infinity]
    else if (char === '+') bounds = [1, Infinity]
    else if (char === '?') bounds = [0, 1]
    if (bounds) this.#at++
    else if (char === '{') bounds = this.#bounds()
    if (!bounds) return node
    if (node.kind === 'place') throw new SyntaxError('repeats what has no length')
    this.#take('?') // a lazy quantifier finds the same matches
    if ('*+?{'.includes(this.#peek() ?? '-')) throw new SyntaxError('repeats a repetition')
    return { kind: 'repeat', node, least: bounds[0], most: bounds[1] }
  }

  #bounds(): [number, number] {
    const end = this.#chars.indexOf('}', this.#at)
    const match = /^(\d{1,3})(,(\d{0,3}))?$/.exec(this.#chars.slice(this.#at + 1, end).join(''))
    if (end < 0 || !match) throw new SyntaxError('has a "{" that is no repetition; write "\\{" for the sign')
    this.#at = end + 1
    const least = Number(match[1])
    const most = match[2] === undefined ? least : match[3] === '' ? Infinity : Number(match[3])
    if (most < least) throw new SyntaxError('has a repetition with its bounds the wrong way round')
    return [least, most]
  }

  #peek(): string | undefined {
    return this.#chars[this.#at]
  }

  #take(char: string): boolean {
    if (this.#chars[this.#at] !== char) return false
    this.#at++
    return true
  }
}

function otherCase(code: number): number {
  const char = String.fromCodePoint(code)
  const lower = char.toLowerCase()
  return (lower === char ? char.toUpperCase() : lower).codePointAt(0)!
}

function push(steps: Step[], step: Step): number {
  if (steps.length >= MAX_STATES) throw new SyntaxError('is too large once its repetitions are written out')
  return steps.push(step) - 1
}

/** Adds the states of `node`, which continue at `next`; returns the number of the first. */
function emit(steps: Step[], node: Node, next: number): number {
  switch (node.kind) {
    case 'set':
    case 'place':
      return push(steps, { ...node, next })
    case 'all':
      return node.parts.reduceRight((after, part) => emit(steps, part, after), next)
    case 'any':
      return node.options
        .map((option) => emit(steps, option, next))
        .reduceRight((other, first) => push(steps, { kind: 'split', next: first, other }))
    case 'repeat':
      return emitRepeat(steps, node, next)
  }
}

function emitRepeat(steps: Step[], node: Node & { kind: 'repeat' }, next: number): number {
  let first = next
  if (node.most === Infinity) {
    const loop: Step & { kind: 'split' } = { kind: 'split', next, other: next }
    first = push(steps, loop)
    loop.next = emit(steps, node.node, first)
  } else {
    for (let i = node.least; i < node.most; i++)
      first = push(steps, { kind: 'split', next: emit(steps, node.node, first), other: next })
  }
  for (let i = 0; i < node.least; i++) first = emit(steps, node.node, first)
  return first
}

/** Follows all paths through the automaton at once, one character at a time. */
function search(steps: readonly Step[], first: number, model: string): boolean {
  const codes = Array.from(model.slice(0, MAX_MODEL), (char) => char.codePointAt(0)!)
  const seen = new Int32Array(steps.length).fill(-1)
  let current: number[] = []
  let following: number[] = []
  for (let at = 0; at <= codes.length; at++) {
    // States that the previous character reached are already marked for this position.
    if (reach(steps, first, codes, at, seen, current)) return true
    for (const number of current) {
      const step = steps[number]!
      if (step.kind !== 'set' || at === codes.length || !step.test(codes[at]!)) continue
      if (reach(steps, step.next, codes, at + 1, seen, following)) return true
    }
    current = following
    following = []
  }
  return false
}

/**
 * Adds the states that consume a character and can be reached from `first` without one. Returns whether the end can be
 * reached.
 */
function reach(
  steps: readonly Step[],
  first: number,
  codes: readonly number[],
  at: number,
  seen: Int32Array,
  into: number[],
): boolean {
  const open = [first]
  for (let number = open.pop(); number !== undefined; number = open.pop()) {
    if (seen[number] === at) continue
    seen[number] = at
    const step = steps[number]!
    if (step.kind === 'found') return true
    if (step.kind === 'set') into.push(number)
    else if (step.kind === 'split') open.push(step.other, step.next)
    else if (isAt(step.place, codes, at)) open.push(step.next)
  }
  return false
}

function isAt(place: Place, codes: readonly number[], at: number): boolean {
  if (place === 'start') return at === 0
  if (place === 'end') return at === codes.length
  const isBoundary = isWord(codes[at - 1] ?? 32) !== isWord(codes[at] ?? 32)
  return isBoundary === (place === 'word')
}
