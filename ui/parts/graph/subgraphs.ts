/** The subgraphs around a node, from the outermost: `a:b:first` is in `a` and `a:b`. */
export function subgraphsOf(id: string): string[] {
  const parts = id.split(':')
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join(':'))
}

/** The paths of all subgraphs, each after those around it. */
export function allSubgraphs(nodes: readonly { id: string | number }[]): string[] {
  return [...new Set(nodes.flatMap(({ id }) => subgraphsOf(String(id))))]
}
