/**
 * True where the value has this word in any text, in any case, or this whole number: as a value of JSON, or behind a colon
 * or an equals sign in a text. The beginning of an id or of a time is no number.
 */
export function isWithin(sent: unknown, value: string | number): boolean {
  const text = JSON.stringify(sent)
  if (typeof value === 'string') return text.toLowerCase().includes(value.toLowerCase())
  // The colons of times stand behind a digit: 21:43.
  return new RegExp(`(?<!\\d)[:=] ?\\\\*"?${value}(?![\\w.-])`).test(text)
}
