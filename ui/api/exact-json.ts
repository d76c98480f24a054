/** A number that a JavaScript number would write differently: `12345678901234567890`, `0.10`. */
export class ExactNumber {
  readonly source: string

  constructor(source: string) {
    this.source = source
  }

  /** Writes the number as it was sent, if the browser has JSON.rawJSON. */
  toJSON(): unknown {
    const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown }
    return rawJSON === undefined ? Number(this.source) : rawJSON(this.source)
  }

  toString(): string {
    return this.source
  }
}

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown

const keepNumber: Reviver = (_key, value, context) => {
  if (typeof value !== 'number') return value
  const source = context?.source
  return source === undefined || source === String(value) ? value : new ExactNumber(source)
}

/**
 * Parses JSON and keeps every number as it was sent. A number that JavaScript would write otherwise becomes an
 * ExactNumber. @throws SyntaxError
 */
export function parseExact(text: string): unknown {
  return JSON.parse(text, keepNumber)
}
