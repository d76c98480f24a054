import { spawnSync } from 'node:child_process'
import { cp, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { shippedParts, wholeSbom } from './sbom.ts'
import { buildUi } from './ui/build.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const DIST = join(ROOT, 'dist')
/**
 * Files other than JavaScript that the program reads at run time. They are copied to the same place relative to the
 * code.
 */
const ASSETS = [
  'schemas/*.json',
  'src/**/*.sql',
  'src/**/*.json',
  'src/**/LICENCE.txt',
  'processors/**/*.json',
  'examples/graphs/*',
  'hosts/python/**/*.py',
  'docs/*.md',
  'docs/{using,graphs,operating,protocol,api}/*.md',
]
/** URLs of the entry files of workers and child processes. Unlike import specifiers, tsc does not rewrite them. */
const ENTRY_URL = /(new URL\(\s*['"][^'"]+)\.ts(['"]\s*,\s*import\.meta\.url)/g

function run(script: string, ...args: readonly string[]): void {
  const done = spawnSync(process.execPath, [join(ROOT, script), ...args], { cwd: ROOT, stdio: 'inherit' })
  if (done.status !== 0) throw new Error(`${script} failed`)
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

/**
 * Copies the files of Swagger UI for /docs, with their licences, so that users of the package need not install all of
 * Swagger UI.
 */
async function copySwaggerUi(): Promise<void> {
  const target = join(DIST, 'swagger-ui')
  await mkdir(target, { recursive: true })
  const files = [
    'swagger-ui-bundle.js',
    'swagger-ui.css',
    'swagger-ui-bundle.js.LICENSE.txt',
    'LICENSE',
    'NOTICE',
  ]
  for (const file of files) await cp(join(ROOT, 'node_modules/swagger-ui-dist', file), join(target, file))
}

async function writeSbom(contained: ReadonlySet<string>): Promise<void> {
  const sbom = shippedParts(wholeSbom(ROOT), 'weir', contained)
  await writeFile(join(DIST, 'sbom.cdx.json'), `${JSON.stringify(sbom, null, 1)}\n`)
}

await rm(DIST, { recursive: true, force: true })
run('scripts/generate.ts', '--types')
run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json')
const rewritten = await rewriteEntryUrls()
const copied = await copyAssets()
await copySwaggerUi()
const contained = await buildUi(join(DIST, 'ui'))
await writeSbom(new Set([...contained, 'swagger-ui-dist']))
console.log(
  `built dist with the web interface: ${copied} assets copied, entry URLs rewritten in ${rewritten} files`,
)
