// Plain JavaScript without dependencies, because launch.mjs imports it.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Files that are not input of a build: its own results, and tests. */
const LEFT_OUT = /^(?:dist|\.dist-[^/]*)(?:\/|$)|\.test\.ts$/

/** Hash of all input of a build of the web interface: the sources, the build scripts, and the locked packages. */
export function uiHash() {
  const sources = readdirSync(join(ROOT, 'ui'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(join(ROOT, 'ui/').length))
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !LEFT_OUT.test(path))
    .sort()
  const hash = createHash('sha256')
  for (const path of [
    ...sources.map((source) => `ui/${source}`),
    'scripts/ui/config.ts',
    'scripts/ui/build.ts',
    'scripts/ui/first-pages.ts',
    'package-lock.json',
  ]) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(ROOT, path)))
      .update('\0')
  }
  return hash.digest('hex')
}
