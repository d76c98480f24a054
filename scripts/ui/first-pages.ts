import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A page that is often opened first: its paths, its source file, and the API paths that it reads at once. */
interface FirstPage {
  paths: readonly string[]
  file: string
  reads: readonly string[]
}

/**
 * Pages that are often opened first, and what they read. Every page also reads the session. A path that the page does
 * not read must not be listed, because the browser would load it in vain.
 */
const FIRST_PAGES: readonly FirstPage[] = [
  {
    paths: ['/', '/projects'],
    file: 'views/projects/projects.tsx',
    reads: ['/api/v1/sessions?limit=100&offset=0&include_stats=true'],
  },
  {
    paths: ['/projects/{id}'],
    file: 'views/project/project.tsx',
    reads: ['/api/v1/sessions/{id}'],
  },
  {
    paths: ['/traces/{id}'],
    file: 'views/trace/trace.tsx',
    reads: ['/api/v1/traces/{id}?view=outline'],
  },
]

/** A chunk of Vite's manifest. */
export interface Chunk {
  file: string
  css?: string[]
  /** Files that its styles refer to. */
  assets?: string[]
  imports?: string[]
  dynamicImports?: string[]
  isEntry?: boolean
}

/** Chunks by the path of their source. */
export type Manifest = Readonly<Record<string, Chunk>>

/** Path of Vite's manifest in the folder of the built interface. */
export const MANIFEST = 'manifest.json'

/** The font of letters and signs that many pages do not show; a browser loads it when a page shows one. */
const LATER_FONT = /\/geist-more-[^/]+\.woff2$/

/** All files that a chunk needs at once. */
export function filesOf(manifest: Manifest, key: string, found = new Set<string>()): Set<string> {
  const chunk = manifest[key]
  if (chunk === undefined || found.has(chunk.file)) return found
  found.add(chunk.file)
  for (const file of [...(chunk.css ?? []), ...(chunk.assets ?? [])])
    if (!LATER_FONT.test(file)) found.add(file)
  for (const other of chunk.imports ?? []) filesOf(manifest, other, found)
  return found
}

/** The key of the chunk that every page needs. @throws Error when the manifest has none */
export function entryOf(manifest: Manifest): string {
  const [entry] = Object.entries(manifest).find(([, { isEntry }]) => isEntry) ?? []
  if (entry === undefined) throw new Error('the bundle has no entry')
  return entry
}

/**
 * Replaces the manifest in a built interface by `pages.json`. For each page that is often opened first, it lists the
 * files and reads that the server names in the header of the page. So the browser requests them before it runs any
 * code.
 */
export async function writeFirstPages(folder: string): Promise<void> {
  const path = join(folder, MANIFEST)
  const manifest = JSON.parse(await readFile(path, 'utf8')) as Manifest
  const shell = filesOf(manifest, entryOf(manifest))
  const pages = FIRST_PAGES.flatMap(({ paths, file, reads }) => {
    const files = [...filesOf(manifest, file)].filter((name) => !shell.has(name))
    if (files.length === 0) throw new Error(`the bundle has no file of ${file}`)
    return paths.map((page) => ({ path: page, files: [...shell, ...files], reads }))
  })
  await writeFile(join(folder, 'pages.json'), JSON.stringify(pages))
  await rm(path)
}
