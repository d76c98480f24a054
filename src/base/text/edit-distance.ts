/**
 * The number of changes that turn `a` into `b`: a letter is added, removed or replaced, or two neighbours are swapped
 * (optimal string alignment).
 */
export function editDistance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let n = 0; n < a.length; n++) {
    const next = [n + 1]
    for (let m = 0; m < b.length; m++) {
      const replaced = (row[m] ?? 0) + (a[n] === b[m] ? 0 : 1)
      const isSwapped = n > 0 && m > 0 && a[n] === b[m - 1] && a[n - 1] === b[m]
      const swapped = isSwapped ? (before[m - 1] ?? 0) + 1 : Infinity
      next.push(Math.min(replaced, swapped, (row[m + 1] ?? 0) + 1, (next[m] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row.at(-1) ?? 0
}
