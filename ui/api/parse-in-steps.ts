import { parseExact } from './exact-json.ts'

/** Number of characters that one step parses, which takes about a millisecond. */
const STEP = 64 * 1024
/** Milliseconds of parsing, after which the browser can draw and handle events. */
const TURN_MS = 8
/** Containers nested deeper than this level are parsed in one step, so that the recursion is bounded. */
const MAX_DEPTH = 200

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]
const MAX_SPACE = 0x20

/** The position after the string that begins at `at`. */
function stringEnd(text: string, at: number): number {
  for (let quote = text.indexOf('"', at + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let before = quote - 1
    while (text.charCodeAt(before) === BACKSLASH) before -= 1
    if ((quote - before) % 2 === 1) return quote + 1
  }
  return text.length
}

/** The position after the value that begins at `at`; undefined for a list or an object longer than `most`. */
function valueEnd(text: string, at: number, most: number): number | undefined {
  let depth = 0
  for (let place = at; place < text.length; place += 1) {
    const code = text.charCodeAt(place)
    if (code === QUOTE) place = stringEnd(text, place) - 1
    else if (code === OPEN_LIST || code === OPEN_OBJECT) depth += 1
    else if (code === COMMA) {
      if (depth === 0) return place
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      if (depth === 0) return place
      depth -= 1
    }
    if (depth === 0 && (code === CLOSE_LIST || code === CLOSE_OBJECT || code === QUOTE)) return place + 1
    if (depth > 0 && place - at > most) return undefined
  }
  return text.length
}

/** Reads one JSON text; lists and objects longer than a step are read item by item. */
class StepReader {
  readonly #text: string
  readonly #pause: () => Promise<void>
  #at = 0
  #since = performance.now()

  constructor(text: string, pause: () => Promise<void>) {
    this.#text = text
    this.#pause = pause
  }

  /** @throws SyntaxError */
  async read(): Promise<unknown> {
    const whole = await this.#container(0)
    // A text that was cut off has the error that JSON.parse has for it.
    return this.#at === this.#text.length ? whole : parseExact(this.#text)
  }

  /** Reads the list or object at the present position, and moves the position behind it. */
  async #container(depth: number): Promise<unknown> {
    const isList = this.#text.charCodeAt(this.#at) === OPEN_LIST
    const whole: unknown[] | object = isList ? [] : {}
    this.#at += 1
    let from = this.#skip()
    while (this.#at < this.#text.length && !this.#isClosed()) {
      const start = this.#at
      if (!isList) this.#skipKey()
      const end = valueEnd(this.#text, this.#at, depth < MAX_DEPTH ? STEP : Number.POSITIVE_INFINITY)
      if (end === undefined) {
        const key = isList ? '' : this.#text.slice(start, this.#at)
        this.#add(whole, from, start)
        const value = await this.#container(depth + 1)
        if (Array.isArray(whole)) whole.push(value)
        else for (const name of Object.keys(parseExact(`{${key}0}`) as object)) setMember(whole, name, value)
        from = this.#skip()
      } else {
        this.#at = end
        this.#skip()
        if (this.#at - from > STEP) {
          this.#add(whole, from, this.#at)
          from = this.#at
          await this.#turn()
        }
      }
    }
    this.#add(whole, from, this.#at)
    this.#at += 1
    return whole
  }

  #isClosed(): boolean {
    const code = this.#text.charCodeAt(this.#at)
    return code === CLOSE_LIST || code === CLOSE_OBJECT
  }

  /** Moves the position behind spaces and commas; returns it. */
  #skip(): number {
    for (let code = this.#text.charCodeAt(this.#at); code <= MAX_SPACE || code === COMMA; ) {
      this.#at += 1
      code = this.#text.charCodeAt(this.#at)
    }
    return this.#at
  }

  /** Moves the position behind the key and the colon of a member. */
  #skipKey(): void {
    this.#at = stringEnd(this.#text, this.#at)
    for (let code = this.#text.charCodeAt(this.#at); code <= MAX_SPACE || code === COLON; ) {
      this.#at += 1
      code = this.#text.charCodeAt(this.#at)
    }
  }

  /** Parses the text between the positions `from` and `to`, and adds its items or members to `whole`. */
  #add(whole: unknown[] | object, from: number, to: number): void {
    const part = this.#text.slice(from, to).replace(/[\s,]+$/, '')
    if (part === '') return
    if (Array.isArray(whole)) for (const item of parseExact(`[${part}]`) as unknown[]) whole.push(item)
    else
      for (const [name, value] of Object.entries(parseExact(`{${part}}`) as object))
        setMember(whole, name, value)
  }

  async #turn(): Promise<void> {
    if (performance.now() - this.#since < TURN_MS) return
    await this.#pause()
    this.#since = performance.now()
  }
}

/** Sets a member as JSON.parse does: `__proto__` is a name like any other. */
function setMember(whole: object, name: string, value: unknown): void {
  Object.defineProperty(whole, name, { value, configurable: true, enumerable: true, writable: true })
}

/** A message, since a browser makes every further timeout 4 ms long. */
const nextTask = async (): Promise<void> =>
  await new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    const received = (): void => {
      port1.close()
      resolve()
    }
    port1.addEventListener('message', received, { once: true })
    port1.start()
    port2.postMessage(0)
  })

/**
 * Returns the result of parseExact for a JSON text, parsed in steps of some milliseconds with `pause` between them, so
 * that the page answers while megabytes are parsed. @throws SyntaxError
 */
export async function parseInSteps(text: string, pause: () => Promise<void> = nextTask): Promise<unknown> {
  const first = /\S/.exec(text)?.[0]
  if (text.length <= STEP || (first !== '{' && first !== '[')) return parseExact(text)
  return await new StepReader(text.trim(), pause).read()
}
