/** Runs that can be selected at a time. */
export const MOST_SELECTED = 100

/** The selection with a run, or without it if it was selected; the runs that were selected first give way. */
export function toggled(selected: readonly string[], id: string): readonly string[] {
  if (selected.includes(id)) return selected.filter((one) => one !== id)
  return [...selected, id].slice(-MOST_SELECTED)
}

/** The selection with all runs of a list between two of them, both included. */
export function withRange(
  listed: readonly string[],
  selected: readonly string[],
  from: string,
  to: string,
): readonly string[] {
  const [a, b] = [listed.indexOf(from), listed.indexOf(to)]
  if (a < 0 || b < 0) return toggled(selected, to)
  const range = listed.slice(Math.min(a, b), Math.max(a, b) + 1)
  return [...new Set([...selected, ...range])].slice(-MOST_SELECTED)
}
