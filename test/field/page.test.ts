import { readFile, writeFile } from 'node:fs/promises'
import { parse } from 'node:path'
import { expect, it } from 'vitest'
import { CLIENTS, FRAMEWORKS, FRAMEWORKS_DAY, LAYOUTS } from './table.ts'

const PAGE = new URL('../../docs/using/compatibility.md', import.meta.url)
const LANGUAGES = { javascript: 'JavaScript', python: 'Python' } as const

/** The releases of each package, with the month in which each was the newest. */
function clientRows(): string[] {
  const named = Map.groupBy(CLIENTS, ([language, name]) => `| \`${name}\` | ${LANGUAGES[language]}`)
  return [...named].map(
    ([head, rows]) => `${head} | ${rows.map(([, , version, month]) => `${version} (${month})`).join(', ')} |`,
  )
}

/** The graphs of each module of a release. */
function frameworkRows(): string[] {
  const named = Map.groupBy(
    FRAMEWORKS,
    ([language, name, version, module]) =>
      `| \`${name}\` ${version} | ${LANGUAGES[language]} | ${parse(module).name.replaceAll('_', ' ')}`,
  )
  return [...named].map(
    ([head, rows]) => `${head}: ${rows.map(([, , , , graph]) => graph.replaceAll('_', ' ')).join(', ')} |`,
  )
}

function layoutRows(): string[] {
  return LAYOUTS.map(([language, name]) => `| ${name} | ${LANGUAGES[language]} |`)
}

it.each([
  ['clients', '| SDK | Language | Releases |', clientRows()],
  [
    'frameworks',
    `The newest releases on ${FRAMEWORKS_DAY}:\n\n| Package | Language | Graphs |`,
    frameworkRows(),
  ],
  ['layouts', '| Layout | Language |', layoutRows()],
])('docs/using/compatibility.md has the %s of the table', async (section, head, rows) => {
  const page = await readFile(PAGE, 'utf8')
  const [begin, end] = [`<!-- ${section} -->\n`, `<!-- /${section} -->`]
  const [from, to] = [page.indexOf(begin) + begin.length, page.indexOf(end)]
  const columns = head.slice(head.lastIndexOf('\n') + 1).split('|').length - 2
  const table = [head, `|${'---|'.repeat(columns)}`, ...rows, ''].join('\n')
  if (process.env['UPDATE_GOLDEN'] === '1')
    await writeFile(PAGE, page.slice(0, from) + table + page.slice(to))
  else expect(page.slice(from, to)).toBe(table)
})
