import { spawnSync } from 'node:child_process'
import { cp, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const DIST = join(ROOT, 'dist')
/** What the program reads at run time besides JavaScript; keeps its place relative to the code. */
const ASSETS = [
  'schemas/*.json',
  'src/**/*.sql',
  'src/**/*.json',
  'processors/**/*.json',
  'examples/graphs/*',
]
/** tsc rewrites import specifiers, but not the file names of worker and child entries. */
const ENTRY_URL = /(new URL\(\s*['"][^'"]+)\.ts(['"]\s*,\s*import\.meta\.url)/g

function compile(): void {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const done = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  if (done.status !== 0) throw new Error('tsc found errors')
}

async function rewriteEntryUrls(): Promise<number> {
  let rewritten = 0
  for await (const file of glob('**/*.js', { cwd: DIST })) {
    const path = join(DIST, file)
    const text = await readFile(path, 'utf8')
    const changed = text.replace(ENTRY_URL, '$1.js$2')
    if (changed === text) continue
    await writeFile(path, changed)
    rewritten += 1
  }
  return rewritten
}

async function copyAssets(): Promise<number> {
  let copied = 0
  for (const pattern of ASSETS) {
    for await (const file of glob(pattern, { cwd: ROOT })) {
      const target = join(DIST, file)
      await mkdir(dirname(target), { recursive: true })
      await cp(join(ROOT, file), target)
      copied += 1
    }
  }
  return copied
}

await rm(DIST, { recursive: true, force: true })
compile()
const rewritten = await rewriteEntryUrls()
const copied = await copyAssets()
console.log(`built dist: ${copied} assets copied, entry URLs rewritten in ${rewritten} files`)
