/** A piece of a text; `isFound` for a piece that is one of the searched words. */
export interface TextPart {
  text: string
  isFound: boolean
}

/** Characters before the first found word that a line of a list keeps, so that the word is in sight. */
const BEFORE = 24

function escaped(word: string): string {
  return word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/**
 * A text in pieces, with the searched words in any case apart. The beginning is left out as far as it would push the
 * first found word out of sight.
 */
export function foundParts(text: string, words: readonly string[]): TextPart[] {
  const wanted = words.filter((word) => word !== '').toSorted((a, b) => b.length - a.length)
  const first = wanted.length === 0 ? undefined : new RegExp(wanted.map(escaped).join('|'), 'iu').exec(text)
  if (first === null || first === undefined) return [{ text, isFound: false }]
  const from = first.index > 2 * BEFORE ? first.index - BEFORE : 0
  const shown = (from > 0 ? '… ' : '') + text.slice(from)
  const pieces = shown.split(new RegExp(`(${wanted.map(escaped).join('|')})`, 'iu'))
  return pieces.flatMap((piece, at) => (piece === '' ? [] : { text: piece, isFound: at % 2 === 1 }))
}
