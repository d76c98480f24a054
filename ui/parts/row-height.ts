/** Height of a row of a list in pixels: `--row` of tokens.css, which grows with the size of text that the reader has set. */
export function rowHeight(): number {
  const root = getComputedStyle(document.documentElement)
  return Number.parseFloat(root.getPropertyValue('--row')) * Number.parseFloat(root.fontSize)
}
