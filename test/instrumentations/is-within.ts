/**
 * Whether the value contains this word (in any text, in upper or lower case) or this whole number: as a JSON value, or
 * in a text after a colon or an equals sign. A number is not found at the beginning of an id or a time.
 */
export function isWithin(sent: unknown, value: string | number): boolean {
  const text = JSON.stringify(sent)
  if (typeof value === 'string') return text.toLowerCase().includes(value.toLowerCase())
  // A colon within a time follows a digit, as in 21:43.
  return new RegExp(`(?<!\\d)[:=] ?\\\\*"?${value}(?![\\w.-])`).test(text)
}
