const HOURS = { h: 1, d: 24 } as const
const HOUR_MS = 3_600_000

/** The address with a relative range, such as `t=7d`, replaced by its start and end at `now`. */
export function frozenAddress(href: string, now: number): string {
  const url = new URL(href)
  const [, count, unit] = /^(\d{1,4})([hd])$/.exec(url.searchParams.get('t') ?? '') ?? []
  if (count === undefined || url.searchParams.has('from') || url.searchParams.has('to')) return href
  const from = now - Number(count) * HOURS[unit as keyof typeof HOURS] * HOUR_MS
  url.searchParams.delete('t')
  url.searchParams.set('from', new Date(from).toISOString())
  url.searchParams.set('to', new Date(now).toISOString())
  return url.href
}
