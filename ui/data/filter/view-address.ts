/** What a view keeps of a page: its filter, and further parameters of the address. */
export interface ViewContent {
  filter: string
  params: Record<string, string>
}

/** Parameters of the address of a project that a view keeps, besides its filter. */
const KEPT = ['view', 't', 'from', 'to', 'sort', 'cols', 'of', 'by', 'p']

/** What a view keeps of an address. */
export function contentOf(search: string): ViewContent {
  const params = new URLSearchParams(search)
  const kept = KEPT.flatMap((name) => {
    const value = params.get(name)
    return value === null ? [] : [[name, value] as const]
  })
  return { filter: params.get('q') ?? '', params: Object.fromEntries(kept) }
}

/** The address of a view of a project. */
export function viewPath(project: string, { filter, params }: ViewContent): string {
  const known = Object.entries(params).filter(([name]) => KEPT.includes(name))
  const search = new URLSearchParams(known)
  if (filter !== '') search.set('q', filter)
  return `/projects/${project}${search.size === 0 ? '' : `?${search}`}`
}

/** Whether an address shows just what a view keeps. */
export function showsView(search: string, content: ViewContent): boolean {
  return viewPath('', contentOf(search)) === viewPath('', inOrder(content))
}

function inOrder({ filter, params }: ViewContent): ViewContent {
  const entries = KEPT.flatMap((name) => (params[name] === undefined ? [] : [[name, params[name]] as const]))
  return { filter, params: Object.fromEntries(entries) }
}
