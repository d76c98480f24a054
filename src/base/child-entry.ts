/**
 * URL of the entry file of a child process or worker thread: `start/children/{name}`, with the extension `.ts` in the
 * source tree and `.js` in the build.
 */
export function childEntry(name: string): URL {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return new URL(`../start/children/${name}.${extension}`, import.meta.url)
}
