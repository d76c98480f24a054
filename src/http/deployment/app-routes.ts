/** A route or middleware of a Hono app: `method` is `ALL` for those of every method. */
export interface AppRoute {
  method: string
  path: string
}

/**
 * Whether an app with these routes may answer a request, or have its middleware see it. Patterns are Hono's: `:name`,
 * `:name{regex}`, an optional last `:name?`, and `*`. True also for some requests that the app does
 * not answer: it hands those back.
 */
export function createAppMatch(routes: readonly AppRoute[]): (method: string, path: string) => boolean {
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
