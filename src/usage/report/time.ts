const ISO =
  /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,12}))?)?(?:[Zz]|([ +-])(\d\d)(?::?(\d\d))?)?)?$/

/**
 * Parses an ISO 8601 time of a query to epoch milliseconds, with a fraction if it is more precise: `T` or a space;
 * seconds and fraction optional; `Z` or an offset, without them UTC; a date alone is its midnight. An unescaped `+`
 * arrives as a space and is read as `+`. Undefined for an invalid date.
 */
export function parseUsageTime(text: string): number | undefined {
  const match = ISO.exec(text)
  if (match === null) return undefined
  const [, date = '', minute = '00:00', second = '00', fraction = '', sign, hours, minutes = '00'] = match
  const time = Date.parse(`${date}T${minute}:${second}Z`)
  // Date.parse reads 30 February and 24:00 as the day after.
  if (Number.isNaN(time) || !new Date(time).toISOString().startsWith(`${date}T`)) return undefined
  if (Number(hours ?? 0) > 23 || Number(minutes) > 59) return undefined
  const east = (Number(hours ?? 0) * 60 + Number(minutes)) * 60_000
  return time + Number(fraction.padEnd(12, '0')) / 1e9 - (sign === '-' ? -east : east)
}

/** Formats a bucket's start or end for reports: `2026-01-15T00:00:00Z`. Epoch milliseconds, on a whole second. */
export function formatUsageTime(time: number): string {
  return new Date(time).toISOString().replace('.000Z', 'Z')
}
