import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { DOCS_SCRIPT, DOCS_STYLE } from './docs-page.ts'

export const DOCS_FILES = ['page.js', 'page.css', 'swagger-ui-bundle.js', 'swagger-ui.css'] as const

/** The name of a file of the page. */
export type DocsFile = (typeof DOCS_FILES)[number]

/**
 * Folder of Swagger UI: in a clone, the folder of the package; in a built Weir, the copy that `scripts/build.ts` makes.
 */
const SWAGGER_UI = new URL(
  import.meta.url.endsWith('.ts') ? '../../../node_modules/swagger-ui-dist/' : '../../../swagger-ui/',
  import.meta.url,
)

const OWN: Readonly<Partial<Record<DocsFile, string>>> = { 'page.js': DOCS_SCRIPT, 'page.css': DOCS_STYLE }

async function compressed(name: DocsFile): Promise<Buffer> {
  return await promisify(gzip)(OWN[name] ?? (await readFile(new URL(name, SWAGGER_UI))))
}

/**
 * Returns a function that reads files of the page of /docs, compressed with gzip, which every browser accepts. Files,
 * 0.5 MB together, are kept in memory after the first read.
 */
export function createDocsFiles(): (name: DocsFile) => Promise<Buffer> {
  const kept = new Map<DocsFile, Promise<Buffer>>()
  return async (name) => {
    const found = kept.get(name) ?? compressed(name)
    kept.set(name, found)
    try {
      return await found
    } catch (error) {
      kept.delete(name)
      throw error
    }
  }
}
