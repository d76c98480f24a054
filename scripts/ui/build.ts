import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build } from 'vite'
import { frameConfig, UI, uiConfig } from './config.ts'
import { MANIFEST, writeFirstPages } from './first-pages.ts'
import { uiHash } from './hash.mjs'

const COMPRESSED = /\.(?:js|css|html|svg)$/
/**
 * Minimum size of a file that is compressed. For a smaller file, the headers of the encoding take more than is gained.
 */
const MIN_COMPRESSED_BYTES = 512
const PACKAGE = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//
/** A lock of this age belongs to a build that was killed or hangs, so another build may start. */
const STALE_LOCK_MS = 120_000

async function compress(folder: string): Promise<void> {
  const files = await readdir(folder, { recursive: true })
  for (const file of files.filter((name) => COMPRESSED.test(name))) {
    const path = join(folder, file)
    const bytes = await readFile(path)
    if (bytes.length < MIN_COMPRESSED_BYTES) continue
    await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }))
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9 }
    await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, { params }))
  }
}

/**
 * Builds the interface into `target`, with compressed copies. The old content is replaced in one step at the end.
 * Returns the names of the packages whose code it contains.
 */
export async function buildUi(target: string): Promise<Set<string>> {
  const temporary = join(UI, `.dist-${process.pid}`)
  // With any other value, such as that of tests, Vite uses React's slow development code.
  process.env['NODE_ENV'] = 'production'
  try {
    const config = uiConfig()
    const contained = new Set<string>()
    const collect = {
      name: 'weir-contained',
      moduleParsed: ({ id }: { id: string }) => {
        const name = PACKAGE.exec(id)?.[1]
        if (name !== undefined) contained.add(name)
      },
    }
    await build({
      ...config,
      plugins: [...(config.plugins ?? []), collect],
      build: { ...config.build, outDir: temporary, emptyOutDir: true, manifest: MANIFEST },
    })
    const frame = frameConfig()
    await build({ ...frame, build: { ...frame.build, outDir: temporary, emptyOutDir: false } })
    await writeFirstPages(temporary)
    await compress(temporary)
    await writeFile(join(temporary, 'sources'), uiHash())
    await rm(target, { recursive: true, force: true })
    await rename(temporary, target)
    return contained
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/** Takes the lock for builds in this clone. Returns false while another process builds. */
async function takeLock(lock: string): Promise<boolean> {
  const made = await mkdir(lock).then(
    () => true,
    () => false,
  )
  if (made) return true
  const held = await stat(lock).catch(() => undefined)
  if (held !== undefined && Date.now() - held.mtimeMs < STALE_LOCK_MS) return false
  await rm(lock, { recursive: true, force: true })
  return await mkdir(lock).then(
    () => true,
    () => false,
  )
}

/**
 * Builds `ui/dist` of this clone. If the build fails, the error is written to `ui/.dist-error`, where the server reads
 * it.
 */
async function main(): Promise<void> {
  const lock = join(UI, '.dist-lock')
  const errorFile = join(UI, '.dist-error')
  if (!(await takeLock(lock))) return
  try {
    await rm(errorFile, { force: true })
    await buildUi(join(UI, 'dist'))
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    await writeFile(errorFile, text)
    console.error(`weir: the web interface was not built: ${text}`)
    process.exitCode = 1
  } finally {
    await rm(lock, { recursive: true, force: true })
  }
}

if (import.meta.main) await main()
