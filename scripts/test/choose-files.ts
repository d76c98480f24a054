/** A test file that may run. */
export interface Candidate {
  file: string
  /** Seconds that it is expected to take. */
  seconds: number
  /** Steps from it to the nearest changed file; undefined if it reaches none. */
  distance: number | undefined
}

export interface Choice {
  chosen: Candidate[]
  /** Files that reach a change and do not fit into the time. */
  leftOut: Candidate[]
}

/**
 * The files that cover a change, nearest first and among equals the quickest first, up to `seconds` in total. A file
 * that does not fit is left out, and a quicker one behind it may still be chosen.
 */
export function chooseFiles(candidates: readonly Candidate[], seconds: number): Choice {
  const relevant = candidates
    .filter(({ distance }) => distance !== undefined)
    .toSorted(
      (a, b) => (a.distance ?? 0) - (b.distance ?? 0) || a.seconds - b.seconds || (a.file < b.file ? -1 : 1),
    )
  const choice: Choice = { chosen: [], leftOut: [] }
  let left = seconds
  for (const candidate of relevant) {
    if (candidate.seconds > left) {
      choice.leftOut.push(candidate)
      continue
    }
    choice.chosen.push(candidate)
    left -= candidate.seconds
  }
  return choice
}
