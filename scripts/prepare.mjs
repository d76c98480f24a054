// Writes the files of types that git ignores, after `npm ci` in a clone. Does nothing in an image that has no sources
// yet, and where the dev dependencies are left out: only editors, checks and builds need the types.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const NEEDED = ['schemas', 'src', 'node_modules/json-schema-to-typescript', 'node_modules/dependency-cruiser']

if (NEEDED.every((path) => existsSync(`${ROOT}${path}`))) {
  const script = fileURLToPath(new URL('launch.mjs', import.meta.url))
  const args = [script, 'scripts/generate.ts', '--types']
  process.exitCode =
    spawnSync(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] }).status ?? 1
}
