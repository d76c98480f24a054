/** A search parameter of the address, with functions that read and write it. */
export interface Param<T> {
  name: string
  /**
   * Converts the text of the parameter to its value; the text is undefined in an address without the parameter. Never
   * throws.
   */
  read(text: string | undefined): T
  /** Undefined for the default value, which is not written. */
  write(value: T): string | undefined
}

/** A text; the default is not written. */
export function textParam(name: string, fallback = ''): Param<string> {
  return {
    name,
    read: (text) => text ?? fallback,
    write: (value) => (value === fallback ? undefined : value),
  }
}

/** A parameter with one of a few words. Any other text means the first word. */
export function wordParam<const W extends string>(name: string, words: readonly [W, ...W[]]): Param<W> {
  const [first] = words
  return {
    name,
    read: (text) => words.find((word) => word === text) ?? first,
    write: (value) => (value === first ? undefined : value),
  }
}

/** The search text of an address with other values of some parameters; the others stay as they are. */
export function withParams(search: string, changes: Readonly<Record<string, string | undefined>>): string {
  const params = new URLSearchParams(search)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) params.delete(name)
    else params.set(name, value)
  }
  const text = params.toString()
  return text === '' ? '' : `?${text}`
}
