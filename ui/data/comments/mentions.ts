/** A member who can be mentioned. */
export interface Person {
  id: string
  name: string
}

/** A word that begins with `@` and ends at the cursor: where it begins, and the text after the `@`. */
export function mentionAt(text: string, cursor: number): { from: number; typed: string } | undefined {
  const from = text.lastIndexOf('@', cursor - 1)
  const typed = text.slice(from + 1, cursor)
  const isWord = from >= 0 && (from === 0 || /\s/.test(text[from - 1] ?? ''))
  return isWord && !/[\n@]/.test(typed) ? { from, typed } : undefined
}

/** The people whose names stand after an `@` in a text. Of two names that begin alike, the longer one counts. */
export function mentionedIn(text: string, people: readonly Person[]): string[] {
  return [...new Set(mentionParts(text, people).flatMap(({ person }) => person?.id ?? []))]
}

/** A text in pieces; those with a person are the person's name after an `@`. */
export function mentionParts(
  text: string,
  people: readonly Person[],
): { text: string; person: Person | undefined }[] {
  const byLength = people.toSorted((a, b) => b.name.length - a.name.length)
  const parts: { text: string; person: Person | undefined }[] = []
  let rest = 0
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    const person = byLength.find(({ name }) => text.startsWith(name, at + 1))
    if (person === undefined) continue
    if (at > rest) parts.push({ text: text.slice(rest, at), person: undefined })
    rest = at + 1 + person.name.length
    parts.push({ text: text.slice(at, rest), person })
    at = rest - 1
  }
  if (rest < text.length) parts.push({ text: text.slice(rest), person: undefined })
  return parts
}
