/** The fields of a route that a table needs. */
interface Routed {
  path: string
  method: string
}

/** The routes of a path, and its parameters, decoded. */
export interface RouteMatch<R extends Routed> {
  path: string
  routes: ReadonlyMap<string, R>
  params: Record<string, string>
}

/** The node of one path segment. */
interface Node<R> {
  fixed: Map<string, Node<R>>
  any: Node<R> | undefined
  routes: Map<string, R>
  path: string
  names: readonly string[]
}

function newNode<R>(): Node<R> {
  return { fixed: new Map(), any: undefined, routes: new Map(), path: '', names: [] }
}

function segmentsOf(path: string): string[] {
  const from = path.startsWith('/') ? 1 : 0
  const to = path.length > 1 && path.endsWith('/') ? path.length - 1 : path.length
  return path.slice(from, to).split('/')
}

function add<R extends Routed>(root: Node<R>, route: R): void {
  const names: string[] = []
  let node = root
  for (const segment of segmentsOf(route.path)) {
    if (segment.startsWith('{')) {
      names.push(segment.slice(1, -1))
      node = node.any ??= newNode<R>()
      continue
    }
    const next = node.fixed.get(segment) ?? newNode<R>()
    node.fixed.set(segment, next)
    node = next
  }
  if (node.routes.size > 0 && node.path !== route.path) throw new TypeError(`${route.path} is ${node.path}`)
  node.path = route.path
  node.names = names
  node.routes.set(route.method, route)
}

/**
 * Finds the node of a path. A fixed segment takes precedence over a parameter, so that `/threads/search` does not match
 * `/threads/{thread_id}`.
 */
function find<R>(
  node: Node<R>,
  segments: readonly string[],
  at: number,
  values: string[],
): Node<R> | undefined {
  const segment = segments[at]
  if (segment === undefined) return node.routes.size > 0 ? node : undefined
  const next = node.fixed.get(segment)
  const found = next && find(next, segments, at + 1, values)
  if (found !== undefined || node.any === undefined || segment === '') return found
  values.push(segment)
  const guessed = find(node.any, segments, at + 1, values)
  if (guessed === undefined) values.pop()
  return guessed
}

/** Creates a table that finds routes by path, several times cheaper than Express, which matters for small requests. */
export function createRouteTable<R extends Routed>(
  routes: readonly R[],
): (path: string) => RouteMatch<R> | undefined {
  const root = newNode<R>()
  for (const route of routes) add(root, route)
  return (path) => {
    const values: string[] = []
    const node = find(root, segmentsOf(path), 0, values)
    if (node === undefined) return undefined
    const params: Record<string, string> = {}
    try {
      for (const [index, name] of node.names.entries()) params[name] = decodeURIComponent(values[index] ?? '')
    } catch {
      // A path with a broken percent-encoding has no route.
      return undefined
    }
    return { path: node.path, routes: node.routes, params }
  }
}
