/** A route or middleware of a Hono app; `method` is `ALL` if it accepts every method. */
export interface HonoRoute {
  method: string
  path: string
}

/**
 * Creates a function that returns whether a route or middleware of the app may match a request. Patterns are Hono's:
 * `:name`, `:name{regex}`, an optional last `:name?`, and `*`. If the result is true but the app does not answer the
 * request, the app passes the request back.
 */
export function createAppMatch(routes: readonly HonoRoute[]): (method: string, path: string) => boolean {
  const rules = routes.map(({ method, path }) => ({ method, pattern: patternOf(path) }))
  return (method, path) => {
    const asked = method === 'HEAD' ? 'GET' : method
    return rules.some((rule) => (rule.method === 'ALL' || rule.method === asked) && rule.pattern.test(path))
  }
}

function patternOf(path: string): RegExp {
  let source = ''
  for (const segment of path.split('/').slice(1)) {
    // A regex may span segments.
    if (segment.includes('{')) return new RegExp(`^${source}(?:/|$)`)
    if (segment === '*') source += '(?:/.*)?'
    else if (/^:[^?]+\?$/.test(segment)) source += '(?:/[^/]+)?'
    else if (segment.startsWith(':')) source += '/[^/]+'
    else source += `/${segment.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}`
  }
  return path.startsWith('/') ? new RegExp(`^${source}/?$`) : /^/
}
