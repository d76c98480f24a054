/** A page of the interface that is often opened first, as listed in `pages.json` of the build. */
export interface FirstPage {
  /** Path below `/app`, such as `/traces/{id}`. */
  path: string
  /** Scripts, styles and fonts below `/app`; the script of all pages is first. */
  files: readonly string[]
  /** Paths of the API with the parameters of `path`, such as `/api/v1/traces/{id}?view=outline`. */
  reads: readonly string[]
}

/** The path of the API that every page reads first. */
const SESSION = '/api/v1/auth/session'
const PARAMETER = /\{\w+\}/g
const ID = '([\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12})'

/** The id in a path below `/app`, '' for a path without one; undefined if the path is that of another page. */
function idIn(path: string, page: string): string | undefined {
  const found = new RegExp(`^${page.replace(PARAMETER, ID)}$`, 'i').exec(path)
  return found === null ? undefined : (found[1] ?? '')
}

function fileLink(file: string): string {
  const url = `</app/${file}>`
  if (file.endsWith('.css')) return `${url}; rel=preload; as=style; crossorigin`
  if (file.endsWith('.woff2')) return `${url}; rel=preload; as=font; type="font/woff2"; crossorigin`
  return `${url}; rel=modulepreload`
}

/**
 * Returns the header `Link` of a page: the files and paths that a browser loads before it runs the interface's code.
 * Paths of the API are named only for a browser that has a cookie, and only in the default workspace, because a link
 * has no headers.
 */
export function linksOf(
  pages: readonly FirstPage[],
  path: string,
  { hasCookie, search }: { hasCookie: boolean; search: string },
): string {
  const mayRead = hasCookie && !/(?:^|&)ws=/.test(search)
  for (const { path: pattern, files, reads: paths } of pages) {
    const id = idIn(path, pattern)
    if (id === undefined) continue
    const links = paths.map((read) => read.replace(PARAMETER, id))
    const reads = mayRead ? readLinks([SESSION, ...links]) : []
    // The script of all pages is first, because a browser has only six connections.
    const [script, ...others] = files.map(fileLink)
    return [script, ...reads, ...others].join(', ')
  }
  return mayRead ? readLinks([SESSION]).join(', ') : ''
}

function readLinks(paths: readonly string[]): string[] {
  return paths.map((path) => `<${path}>; rel=preload; as=fetch; crossorigin`)
}
