import { printable } from './printable.ts'

/** Columns side by side under their titles, two spaces apart; control characters in cells are escaped. */
export function textTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [titles, ...rows].map((cells) => cells.map(printable))
  const widths = titles.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)))
  const toLine = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return lines.map(toLine).join('\n')
}
