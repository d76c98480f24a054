/** A route or middleware of a Hono app; `method` is `ALL` if it accepts every method. */
export interface HonoRoute {
  method: string
  path: string
}

/**
 * Creates a function that returns whether a route or middleware of the app may match a request. Patterns are Hono's:
 * `:name`, `:name{regex}`, an optional last `:name?`, and `*`. If the result is true but the app does not answer the
 * request, the app passes the request back. The patterns are those of deployed code, so no regular expression is made of
 * them: the work is at most their length times the length of the path.
 */
export function createAppMatch(routes: readonly HonoRoute[]): (method: string, path: string) => boolean {
  const rules = routes.map(({ method, path }) => ({ method, takes: patternOf(path) }))
  return (method, path) => {
    const asked = method === 'HEAD' ? 'GET' : method
    const segments = path.split('/').slice(1)
    return rules.some((rule) => (rule.method === 'ALL' || rule.method === asked) && rule.takes(segments))
  }
}

/** One part of a pattern: a segment that is not empty, at most one such segment, any segments, or a text. */
type Part = 'one' | 'maybe' | 'any' | { text: string }

function partOf(segment: string): Part {
  if (segment === '*') return 'any'
  if (/^:[^?]+\?$/.test(segment)) return 'maybe'
  return segment.startsWith(':') ? 'one' : { text: segment }
}

function patternOf(path: string): (segments: readonly string[]) => boolean {
  if (!path.startsWith('/')) return () => true
  const all = path.split('/').slice(1)
  const regex = all.findIndex((segment) => segment.includes('{'))
  const parts = (regex < 0 ? all : all.slice(0, regex)).map(partOf)
  // A regex may span segments, so everything below what is before it may match.
  return (segments) => fits(parts, segments, regex >= 0)
}

/** Whether the segments, or with `isOpen` the first of them, match all parts. Follows all ways through the parts at once. */
function fits(parts: readonly Part[], segments: readonly string[], isOpen: boolean): boolean {
  let at = reached(parts, [0])
  for (const [index, segment] of segments.entries()) {
    const isTrailingSlash = segment === '' && index === segments.length - 1
    if (at.has(parts.length) && (isOpen || isTrailingSlash)) return true
    at = reached(
      parts,
      [...at].flatMap((place) => {
        const part = parts[place]
        if (part === undefined) return []
        if (part === 'any') return [place]
        return (typeof part === 'string' ? segment !== '' : segment === part.text) ? [place + 1] : []
      }),
    )
  }
  return at.has(parts.length)
}

/** The places, and those after parts that may match nothing. */
function reached(parts: readonly Part[], places: readonly number[]): ReadonlySet<number> {
  const all = new Set(places)
  for (const place of all) if (parts[place] === 'any' || parts[place] === 'maybe') all.add(place + 1)
  return all
}
