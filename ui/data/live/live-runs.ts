import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { LiveState } from './follow.ts'
import { useLive } from './use-live.ts'
import {
  countUnknown,
  type ListedRun,
  type RunPage,
  runsOf,
  withChanges,
  withNewestPage,
  type RunQuery,
} from '../run-pages.ts'
import { cachedPages, changePages, firstRead, readAgain, readNewest } from '../runs.ts'

/** Pause between two reads of the list. */
const PAUSE_MS = 500

/** The state of a list of runs with live updates. */
export interface LiveRuns {
  state: LiveState
  /** Number of new runs that are held back. */
  waiting: number
  show(): void
}

type Found = (page: RunPage, others: readonly ListedRun[]) => void

interface Looker {
  /** Reads the newest runs, and those of the changed runs that the list has. */
  look(changed: readonly string[]): void
  stop(): void
}

/** Reads changed runs, one request at a time; changes that arrive meanwhile are read by the next request. */
function createLooker(query: RunQuery, queries: QueryClient, found: Found): Looker {
  const gone = new AbortController()
  let wanted: Set<string> | undefined
  let isBusy = false
  const work = async (): Promise<void> => {
    isBusy = true
    // A page that has just been opened is still reading its list: a second read at the same time would delay it.
    await firstRead(queries, query)
    while (wanted !== undefined && !gone.signal.aborted) {
      const known = new Set(runsOf(cachedPages(queries, query)).map(({ id }) => id))
      const changed = [...wanted].filter((id) => known.has(id))
      wanted = undefined
      const read = await readNewest(query, changed, gone.signal).catch(() => undefined)
      if (read !== undefined && !gone.signal.aborted) found(read.page, read.others)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
    isBusy = false
  }
  return {
    look(changed) {
      wanted = new Set([...(wanted ?? []), ...changed])
      if (!isBusy) void work()
    },
    stop: () => gone.abort(),
  }
}

/**
 * Follows the runs of a project. Changed runs are updated in place. New runs are added at the top; while `isHeld` is
 * true they are held back until `show` is called. Only a list in the order of time is followed.
 */
export function useLiveRuns(query: RunQuery, isHeld: () => boolean): LiveRuns {
  const queries = useQueryClient()
  const [waiting, setWaiting] = useState<{ query: RunQuery; page: RunPage; count: number }>()
  const looker = useRef<Looker>(undefined)
  const found = useEffectEvent<Found>((page, others) => {
    changePages(queries, query, (pages) => withChanges(pages, [...page.runs, ...others]))
    const pages = cachedPages(queries, query)
    if (pages === undefined) return
    const count = countUnknown(pages, page)
    const mustWait = runsOf(pages).length > 0 && isHeld()
    const joined = mustWait ? undefined : withNewestPage(pages, page)
    if (joined !== undefined) changePages(queries, query, () => joined)
    setWaiting(count > 0 && joined === undefined ? { query, page, count } : undefined)
  })
  useEffect(() => {
    const made = createLooker(query, queries, (page, others) => found(page, others))
    looker.current = made
    return made.stop
  }, [query, queries])
  // In a list with another order, a new run could belong anywhere, so such a list has no live updates.
  const topics = query.sort === undefined ? [`project:${query.project}`] : []
  const state = useLive(topics, {
    open: () => looker.current?.look([]),
    runs: (runs) => looker.current?.look(runs.map(({ run_id }) => run_id)),
  })
  const current = waiting?.query === query ? waiting : undefined
  const show = (): void => {
    const pages = cachedPages(queries, query)
    const joined = pages && current && withNewestPage(pages, current.page)
    if (joined === undefined) readAgain(queries, query)
    else changePages(queries, query, () => joined)
    setWaiting(undefined)
  }
  return { state, waiting: current?.count ?? 0, show }
}
