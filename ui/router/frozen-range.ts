import { createContext, use, useEffect } from 'react'

/** A range of time that a page shows: ISO times, '' for no limit. */
export interface ShownRange {
  from: string
  to: string
}

/** Receives the range of the page; undefined when the page has none any more. */
export const RangeOfPage = createContext<((range: ShownRange | undefined) => void) | undefined>(undefined)

/** Reports the range that the page shows to the shell, which copies it with `Y`. */
export function useRangeOfPage({ from, to }: ShownRange): void {
  const take = use(RangeOfPage)
  useEffect(() => {
    take?.({ from, to })
    return () => take?.(undefined)
  }, [take, from, to])
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
