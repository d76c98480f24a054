/** `--row` of tokens.css: it grows with the size of text that the reader has set. */
const ROW_REM = 1.75

/** Height of a row of a list in pixels. */
export function rowHeight(): number {
  return ROW_REM * Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
}
