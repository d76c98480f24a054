/** The first page of the interface. */
const HOME = '/app/'
const MAX_LENGTH = 2000
/** Any origin: only what the path becomes is of interest. */
const SOME_ORIGIN = 'http://weir.invalid'

/** The path of a page of the interface, or that of its first page if the text is none. It never leads to another origin. */
export function returnPath(text: string | undefined): string {
  if (text === undefined || text.length > MAX_LENGTH || !text.startsWith('/') || text.includes('\\'))
    return HOME
  const url = URL.parse(text, SOME_ORIGIN)
  if (url === null || url.origin !== SOME_ORIGIN || !url.pathname.startsWith(HOME)) return HOME
  return url.pathname + url.search + url.hash
}
