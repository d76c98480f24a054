import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { uiConfig } from '../ui/config.ts'
import { entryOf, filesOf, MANIFEST, type Manifest } from '../ui/first-pages.ts'

/**
 * Limits in bytes of JavaScript, CSS and the font after gzip: for the first page that is opened, and for a page that is opened
 * later. Studio contains LangGraph's SDK, and does not count as a first page.
 */
const BUDGETS = { first: { aim: 153_600, most: 180_000 }, page: 60_000, studio: 150_000 }
const STUDIO = 'views/studio/studio.tsx'

async function gzipped(folder: string, file: string): Promise<number> {
  return gzipSync(await readFile(join(folder, file)), { level: 9 }).length
}

async function sizeOf(folder: string, files: Iterable<string>): Promise<number> {
  const sizes = await Promise.all([...files].map((file) => gzipped(folder, file)))
  return sizes.reduce((sum, size) => sum + size, 0)
}

async function measure(folder: string): Promise<void> {
  process.env['NODE_ENV'] = 'production'
  const config = uiConfig()
  await build({ ...config, build: { ...config.build, outDir: folder, manifest: MANIFEST } })
  const manifest = JSON.parse(await readFile(join(folder, MANIFEST), 'utf8')) as Manifest
  const entry = entryOf(manifest)
  const shell = filesOf(manifest, entry)
  const shellSize = await sizeOf(folder, shell)
  const pages = await Promise.all(
    (manifest[entry]?.dynamicImports ?? []).map(async (page) => {
      const files = [...filesOf(manifest, page)].filter((file) => !shell.has(file))
      return { page, size: await sizeOf(folder, files) }
    }),
  )
  const largest = pages.toSorted((a, b) => b.size - a.size)
  const budgetOf = (page: string): number => (page === STUDIO ? BUDGETS.studio : BUDGETS.page)
  const tooLarge = largest.filter(({ page, size }) => size > budgetOf(page))
  for (const { page, size } of tooLarge) console.error(`${page}: ${size} bytes, at most ${budgetOf(page)}`)
  // A link may lead to any page but Studio first, so the largest page counts.
  const [largestFirst] = largest.filter(({ page }) => page !== STUDIO)
  const first = shellSize + (largestFirst?.size ?? 0)
  if (first > BUDGETS.first.most) console.error(`first load: ${first} bytes, at most ${BUDGETS.first.most}`)
  if (first > BUDGETS.first.aim) console.log(`first load is above its aim of ${BUDGETS.first.aim} bytes`)
  const studio = largest.find(({ page }) => page === STUDIO)
  const assets = await readdir(join(folder, 'assets'))
  console.log(
    `${assets.length} files; shell ${shellSize} bytes, with the largest page (${largestFirst?.page ?? 'none'}) ${first}; Studio ${studio?.size ?? 0}`,
  )
  if (tooLarge.length > 0 || first > BUDGETS.first.most) process.exitCode = 1
}

const folder = await mkdtemp(join(tmpdir(), 'weir-bundle-'))
try {
  await measure(folder)
} finally {
  await rm(folder, { recursive: true, force: true })
}
