/** Shorter values would hide ordinary words of a log. */
const MIN_MASKED = 8
const MASK = '***'

/** Replaces the values in lines of logs (P-16): those of 8 characters and more, also line by line. */
export function createMask(values: readonly string[]): (line: string) => string {
  const parts = values.flatMap((value) => [value, ...value.split(/\r?\n/)])
  // The longest first: a value that contains another one is replaced as a whole.
  const masked = [...new Set(parts.filter((part) => part.length >= MIN_MASKED))].toSorted(
    (a, b) => b.length - a.length,
  )
  return (line) => masked.reduce((text, value) => text.replaceAll(value, MASK), line)
}
