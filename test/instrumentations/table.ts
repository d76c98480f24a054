import { readFile, writeFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { type Cells, COLUMNS } from './compare.ts'

const PAGE = new URL('../../docs/using/instrumentations.md', import.meta.url)

/** The findings for one client. */
export interface Row {
  title: string
  /** Packages with their versions. */
  versions: string
  cells: Cells
}

/** A row of the page's table. */
function line({ title, versions, cells }: Row): string {
  return `| ${[title, versions, ...COLUMNS.map((column) => cells[column])].join(' | ')} |`
}

function sectionOf(page: string, name: string): { before: string; rows: string[]; after: string } {
  const [begin, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`]
  const [from, to] = [page.indexOf(begin) + begin.length, page.indexOf(end)]
  if (from < begin.length || to < from)
    throw new Error(`docs/using/instrumentations.md has no section ${name}`)
  const rows = page
    .slice(from, to)
    .split('\n')
    .filter((text) => text.startsWith('| ') && !text.startsWith('| Client') && !text.startsWith('|---'))
  return { before: page.slice(0, from), rows, after: page.slice(to) }
}

/**
 * Compares the findings with a section of docs/using/instrumentations.md. The test fails if a client has other results
 * than on the page, better or worse. `skipped` has the titles of clients that are not installed here; their rows are
 * not compared. With UPDATE_GOLDEN=1 the page is written instead.
 */
export async function expectInTable(
  section: string,
  rows: readonly Row[],
  skipped: readonly string[] = [],
): Promise<void> {
  const page = await readFile(PAGE, 'utf8')
  const { before, rows: known, after } = sectionOf(page, section)
  const found = rows.map(line)
  const isCompared = (row: string): boolean => !skipped.some((title) => row.startsWith(`| ${title} |`))
  if (process.env['UPDATE_GOLDEN'] !== '1') return expect(found).toEqual(known.filter(isCompared))
  if (skipped.length > 0) throw new Error(`the table needs ${skipped.join(', ')}`)
  const head = [
    `| Client | Versions | ${COLUMNS.join(' | ')} |`,
    `|---|---|${COLUMNS.map(() => '---|').join('')}`,
  ]
  await writeFile(PAGE, `${before}${[...head, ...found, ''].join('\n')}${after}`)
}
