/** Minimum length of a masked value; shorter values would hide ordinary words of a log. */
const MIN_MASKED = 8
const MASK = '***'
/** A line of at least this length may have been cut in the middle of a value. */
const CUT_LENGTH = 4_000

/**
 * Returns a function that replaces values of secrets in a line of a log by `***` (P-16). It replaces values of at least 8
 * characters, and, of a value with several lines, each line of at least 8 characters. A long line may have been cut in
 * the middle of a value: there, a part of at least 8 characters at the beginning or the end of the line is replaced too.
 */
export function createMask(values: readonly string[]): (line: string) => string {
  const parts = values.flatMap((value) => [value, ...value.split(/\r?\n/)])
  // The longest first, so that a value that contains another value is replaced as a whole.
  const masked = [...new Set(parts.filter((part) => part.length >= MIN_MASKED))].toSorted(
    (a, b) => b.length - a.length,
  )
  return (line) => {
    const text = masked.reduce((rest, value) => rest.replaceAll(value, MASK), line)
    if (line.length < CUT_LENGTH) return text
    return masked.reduce((rest, value) => withoutBegin(withoutEnd(rest, value), value), text)
  }
}

/** Masks the end of the value with which the line begins. */
function withoutEnd(line: string, value: string): string {
  const end = value.slice(-MIN_MASKED)
  for (
    let at = line.lastIndexOf(end, value.length);
    at >= 0;
    at = at > 0 ? line.lastIndexOf(end, at - 1) : -1
  )
    if (value.endsWith(line.slice(0, at + MIN_MASKED))) return MASK + line.slice(at + MIN_MASKED)
  return line
}

/** Masks the beginning of the value with which the line ends. */
function withoutBegin(line: string, value: string): string {
  const begin = value.slice(0, MIN_MASKED)
  for (let at = line.indexOf(begin, line.length - value.length); at >= 0; at = line.indexOf(begin, at + 1))
    if (value.startsWith(line.slice(at))) return line.slice(0, at) + MASK
  return line
}
