/** A place at which two states differ. A value is undefined on the side that lacks it. */
export interface Difference {
  path: string
  before: unknown
  after: unknown
}

const MAX_DIFFERENCES = 500

/** Lists the places where two JSON values differ, by path; at most 500. */
export function differencesOf(before: unknown, after: unknown, path = ''): Difference[] {
  if (Object.is(before, after)) return []
  if (!isNest(before) || !isNest(after) || Array.isArray(before) !== Array.isArray(after))
    return String(before) === String(after) && typeof before === typeof after && !isNest(before)
      ? []
      : [{ path, before, after }]
  const found: Difference[] = []
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const place = Array.isArray(before) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`
    found.push(...differencesOf(before[key], after[key], place))
    if (found.length >= MAX_DIFFERENCES) break
  }
  return found.slice(0, MAX_DIFFERENCES)
}

function isNest(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
