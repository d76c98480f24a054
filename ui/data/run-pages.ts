import type { TraceRunPage, TraceRunRead } from '../api/platform.gen.ts'

/** A logged run as an item of a list. */
export type ListedRun = TraceRunRead

export type OrderedBy = 'latency' | 'total_tokens' | 'total_cost'

/** The order of a list that is not ordered by time. */
export interface ListOrder {
  by: OrderedBy
  order: 'asc' | 'desc'
}

/** A list of runs of a project. */
export interface RunQuery {
  project: string
  /** Expression of the filter language; '' for all. */
  filter: string
  isRoot: boolean
  /** ISO time of the earliest start; '' for all. */
  since: string
  /** ISO time before which runs started; '' for all. */
  until: string
  /** Undefined: newest first, with live updates. */
  sort?: ListOrder | undefined
}

export type RunPage = TraceRunPage

/** The pages of a list that have been read, and the cursor of each. */
export interface RunPages {
  pages: RunPage[]
  pageParams: string[]
}

export function runsOf(pages: RunPages | undefined): ListedRun[] {
  return pages?.pages.flatMap(({ runs }) => runs) ?? []
}

/** Replaces the changed runs in the pages; every run stays in its place. */
export function withChanges(pages: RunPages, changed: readonly ListedRun[]): RunPages {
  const news = new Map(changed.map((run) => [run.id, run]))
  const replaced = pages.pages.map((page) =>
    page.runs.some(({ id }) => news.has(id))
      ? { ...page, runs: page.runs.map((run) => news.get(run.id) ?? run) }
      : page,
  )
  return { ...pages, pages: replaced }
}

/** Number of runs of the newest page that are not in the list. */
export function countUnknown(pages: RunPages, newest: RunPage): number {
  const known = new Set(runsOf(pages).map(({ id }) => id))
  return newest.runs.filter(({ id }) => !known.has(id)).length
}

/**
 * The list with the newest page at its beginning. Undefined when runs between the page and the list may be missing;
 * then the list must be read again. The cursor of the last page stays valid.
 */
export function withNewestPage(pages: RunPages, newest: RunPage): RunPages | undefined {
  const [first, ...rest] = pages.pages
  if (first === undefined || runsOf(pages).length === 0)
    return { pages: [newest], pageParams: pages.pageParams.slice(0, 1) }
  const known = new Set(runsOf(pages).map(({ id }) => id))
  const meets = newest.cursors.next === null || newest.runs.some(({ id }) => known.has(id))
  if (!meets) return undefined
  const there = new Set(newest.runs.map(({ id }) => id))
  const older = <P extends RunPage>(page: P): P => ({
    ...page,
    runs: page.runs.filter(({ id }) => !there.has(id)),
  })
  const head = { ...first, runs: [...newest.runs, ...older(first).runs] }
  return { ...pages, pages: [head, ...rest.map(older)] }
}
