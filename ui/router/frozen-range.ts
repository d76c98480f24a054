import { createContext, use, useEffect } from 'react'

/** A range of time that a page shows: ISO times, '' for no limit. */
export interface ShownRange {
  from: string
  to: string
}

/** Holds the range of the page; undefined for a page without one. */
export const RangeOfPage = createContext<{ current: ShownRange | undefined } | undefined>(undefined)

/** Tells the shell which range the page shows, for a link that freezes it. */
export function useRangeOfPage({ from, to }: ShownRange): void {
  const held = use(RangeOfPage)
  useEffect(() => {
    if (held === undefined) return undefined
    held.current = { from, to }
    return () => {
      held.current = undefined
    }
  }, [held, from, to])
}

/** The address with the range that its page shows; a range without an end then ends at `now`. */
export function frozenAddress(href: string, shown: ShownRange | undefined, now: number): string {
  if (shown === undefined) return href
  const url = new URL(href)
  const range = { from: shown.from, to: shown.to || new Date(now).toISOString() }
  url.searchParams.delete('t')
  for (const [name, time] of Object.entries(range)) {
    if (time === '') url.searchParams.delete(name)
    else url.searchParams.set(name, time)
  }
  return url.href
}
