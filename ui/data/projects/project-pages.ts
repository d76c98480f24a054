/** Maximum number of projects in one response of the server. */
export const PROJECTS_PER_PAGE = 100
/** Time between two reads of one project, or of one page of them. */
export const READ_EVERY_MS = 10_000
/** This time is short, so that the first trace appears soon; reading an empty list is cheap. */
const EMPTY_EVERY_MS = 700

/** Time until the pages are read again. It grows with the number of pages, since all of them are read. */
export function readEveryMs(pages: readonly (readonly unknown[])[], isSearch: boolean): number {
  if (pages[0]?.length === 0 && !isSearch) return EMPTY_EVERY_MS
  return READ_EVERY_MS * Math.max(pages.length, 1)
}

/** The offset of the next page; undefined after the last one. */
export function nextOffset(pages: readonly (readonly unknown[])[]): number | undefined {
  const last = pages.at(-1)
  return last?.length === PROJECTS_PER_PAGE ? pages.length * PROJECTS_PER_PAGE : undefined
}

/**
 * All projects of the pages, each once. A project may be on two pages: one that was created between the two reads moves
 * the others down.
 */
export function projectsOf<T extends { id: string }>(pages: readonly (readonly T[])[]): T[] {
  const found = new Map<string, T>()
  for (const project of pages.flat()) if (!found.has(project.id)) found.set(project.id, project)
  return [...found.values()]
}

/** The items in groups of at most `size`, in order. */
export function groupsOf<T>(items: readonly T[], size: number): T[][] {
  const groups: T[][] = []
  for (let at = 0; at < items.length; at += size) groups.push(items.slice(at, at + size))
  return groups
}
