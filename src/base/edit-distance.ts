/** How many letters must be added, removed or replaced to turn `a` into `b` (Levenshtein). */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let n = 0; n < a.length; n++) {
    const next = [n + 1]
    for (let m = 0; m < b.length; m++) {
      const replaced = (row[m] ?? 0) + (a[n] === b[m] ? 0 : 1)
      next.push(Math.min(replaced, (row[m + 1] ?? 0) + 1, (next[m] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
