/** Filters that are remembered of one project, newest first, and projects of which they are. */
const [MOST_FILTERS, MOST_PROJECTS] = [12, 20]

/** Filters by project, the project that was filtered last at first. */
type FilterHistory = readonly (readonly [project: string, filters: readonly string[]])[]

/** Reads what `historyText` wrote; any other text is an empty history. */
export function readHistory(text: string): FilterHistory {
  try {
    const entries: unknown = JSON.parse(text)
    if (!Array.isArray(entries)) return []
    return (entries as unknown[]).filter(
      (entry): entry is [string, string[]] =>
        Array.isArray(entry) &&
        typeof entry[0] === 'string' &&
        Array.isArray(entry[1]) &&
        entry[1].every((filter) => typeof filter === 'string'),
    )
  } catch {
    return []
  }
}

export function historyText(history: FilterHistory): string {
  return JSON.stringify(history)
}

export function filtersOf(history: FilterHistory, project: string): readonly string[] {
  return history.find(([id]) => id === project)?.[1] ?? []
}

/** The history with a filter as the newest one of a project; the empty filter is not remembered. */
export function withFilter(history: FilterHistory, project: string, filter: string): FilterHistory {
  if (filter === '') return history
  const others = filtersOf(history, project).filter((one) => one !== filter)
  const own = [project, [filter, ...others].slice(0, MOST_FILTERS)] as const
  return [own, ...history.filter(([id]) => id !== project)].slice(0, MOST_PROJECTS)
}
