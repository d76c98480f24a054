/** Characters of a piece of Markdown: its parsing takes some milliseconds. */
const PIECE = 8000
/** A longer piece ends at any blank line, also between the items of a list. */
const LONG_PIECE = 4 * PIECE

const FENCE = /^ {0,3}(`{3,}|~{3,})/
/** A line that may continue the block above a blank line: an indented line, an item of a list, or a quote. */
const CONTINUES = /^(?:\s|[-*+>] |\d+[.)] )/

/**
 * A text of Markdown cut into pieces that can be parsed alone: between blocks, never within a block of code. A text without
 * blank lines is one piece.
 */
export function markdownPieces(text: string): string[] {
  const lines = text.split('\n')
  const pieces: string[] = []
  let from = 0
  let length = 0
  let fence = ''
  for (const [at, line] of lines.entries()) {
    length += line.length + 1
    const mark = FENCE.exec(line)?.[1] ?? ''
    if (fence === '') fence = mark
    else if (mark.startsWith(fence)) fence = ''
    if (length < PIECE || fence !== '' || line.trim() !== '') continue
    if (length < LONG_PIECE && CONTINUES.test(lines[at + 1] ?? '')) continue
    pieces.push(lines.slice(from, at + 1).join('\n'))
    from = at + 1
    length = 0
  }
  return [...pieces, lines.slice(from).join('\n')].filter((piece) => piece !== '')
}

/** Characters of a piece of a plain text. */
const PLAIN_PIECE = 4000

/**
 * A text cut into pieces at ends of lines, or of words where a line is long. When a text grows, all of its pieces
 * except the last one stay the same.
 */
export function plainPieces(text: string): string[] {
  const pieces: string[] = []
  let from = 0
  while (text.length - from > 2 * PLAIN_PIECE) {
    const window = text.slice(from + PLAIN_PIECE, from + 2 * PLAIN_PIECE)
    const end = [window.indexOf('\n'), window.indexOf(' ')].find((at) => at >= 0) ?? PLAIN_PIECE - 1
    const to = from + PLAIN_PIECE + end
    // A line break or space at the end of the piece is left out.
    const isSpace = /\s/.test(text[to] ?? '')
    pieces.push(text.slice(from, isSpace ? to : to + 1))
    from = to + 1
  }
  return [...pieces, text.slice(from)]
}
