import { existsSync, globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { citedRules } from '../../scripts/check/house-rules.ts'
import { ISSUE_CODES } from '../../src/schema/issue.ts'

const ROOT = new URL('../../', import.meta.url)

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8')
}

function find(pattern: string): string[] {
  return globSync(pattern, { cwd: ROOT }).filter((path) => !/^(node_modules|dist|test\/corpus)\//.test(path))
}

/** The anchors that Git hosts make from the headings of a page. */
function headingIds(text: string): Set<string> {
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading)
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

describe('docs/using/issues.md', () => {
  it('lists every code of an issue, in the order of the table, and no other', () => {
    const documented = [...read('docs/using/issues.md').matchAll(/^\| `([a-z0-9_]+)` \|/gm)].map(
      ([, code]) => code,
    )
    expect(documented).toEqual(ISSUE_CODES)
    expect(new Set(ISSUE_CODES).size).toBe(ISSUE_CODES.length)
  })

  it('has no code that the source does not emit', () => {
    const sources = find('{src,processors}/**/*.ts').filter(
      (path) => !/\.test\.ts$|^src\/schema\/issue\.ts$/.test(path),
    )
    const text = sources.map(read).join('\n')
    expect(ISSUE_CODES.filter((code) => !text.includes(`'${code}'`))).toEqual([])
  })
})

describe('docs/rules.md', () => {
  it('explains every cited number once', () => {
    const numbers = [...read('docs/rules.md').matchAll(/^\| ([DPS]-\d+) \|/gm)].map(([, number]) => number)
    expect(numbers.length).toBeGreaterThan(100)
    expect(new Set(numbers).size).toBe(numbers.length)
    const texts = find('{src,ui,scripts,test,docs}/**/*.{ts,tsx,sql,md}')
      .filter((path) => !/^docs\/rules\.md$|\/dist\//.test(path))
      .map(read)
    const cited = new Set(texts.flatMap((text) => text.match(/(?<![\w:-])[DPS]-\d+(?![\w-])/g) ?? []))
    expect([...cited].filter((number) => !numbers.includes(number))).toEqual([])
  })
})

describe('docs/protocol', () => {
  const rules = find('docs/protocol/*.md').flatMap((path) =>
    [...read(path).matchAll(/^- \*\*([A-Z]+-\d+)\*\* (.*)$/gm)].map(([, id = '', text = '']) => ({
      id,
      text,
    })),
  )
  const kinds = new Set(rules.map(({ id }) => id.replace(/\d+$/, '')))
  const tests = find('test/**/*.ts').concat(find('{src,processors,scripts}/**/*.test.ts'))
  const cited = new Set([...citedRules(tests.map(read))].filter((id) => kinds.has(id.replace(/\d+$/, ''))))

  it('numbers each rule once', () => {
    expect(rules.length).toBeGreaterThan(20)
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length)
  })

  it('has the number of every rule in the title of a test', () => {
    expect(rules.map(({ id }) => id).filter((id) => !cited.has(id))).toEqual([])
  })

  it('names only existing test files', () => {
    const named = rules.flatMap(({ text }) =>
      [...text.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, path = '']) => path),
    )
    expect(named.filter((path) => !existsSync(new URL(path, ROOT)))).toEqual([])
  })

  it('has every rule that a title cites', () => {
    const ids = new Set(rules.map(({ id }) => id))
    expect([...cited].filter((id) => !ids.has(id))).toEqual([])
  })
})

describe('links', () => {
  const pages = find('{*.md,{docs,examples,deploy}/**/*.md,processors/*.md}')

  it.each(pages)('%s points only to files that exist', (page) => {
    const targets = [...read(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target)
    const local = targets.filter((target) => !/^[a-z]+:/.test(target))
    expect(local.filter((target) => !existsSync(new URL(target, new URL(page, ROOT))))).toEqual([])
  })

  it.each(pages)('%s points only to headings that exist', (page) => {
    const targets = [...read(page).matchAll(/\]\((?![a-z]+:)([^)#\s]*)#([^)]+)\)/g)]
    const missing = targets.filter(([, path = '', heading = '']) => {
      const file = path === '' ? new URL(page, ROOT) : new URL(path, new URL(page, ROOT))
      return !headingIds(readFileSync(file, 'utf8')).has(heading)
    })
    expect(missing.map(([link]) => link)).toEqual([])
  })

  it('code and pages cite only decisions that docs/adr/README.md lists, by a present or a former number', () => {
    const listed = new Set(read('docs/adr/README.md').match(/\b\d{4}\b/g))
    const texts = find('{src,processors,ui,scripts,hosts,schemas,docs,test}/**/*.{ts,tsx,py,sql,md}')
      .concat(find('*.md'))
      .map(read)
    const numbers = texts.flatMap((text) =>
      [...text.matchAll(/(?:\bADR |\badr\/)(\d{4})(?!\d)/g)].map(([, number = '']) => number),
    )
    expect(numbers.length).toBeGreaterThan(30)
    expect(numbers.filter((number) => !listed.has(number))).toEqual([])
  })

  it('code, settings and charts name only pages that exist', () => {
    const texts = find(
      '{src,ui,scripts,hosts,processors,schemas,deploy,test,bench}/**/*.{ts,tsx,py,json,yaml,cfg,md}',
    )
      .concat(find('*.{md,yml}'))
      .filter((path) => !/\/(?:dist|node_modules)\//.test(path))
      .map((path) => [path, read(path)] as const)
    const named = texts.flatMap(([path, text]) =>
      [...text.matchAll(/(?<![\w/])docs\/[\w/-]+\.md/g)].map(([page]) => ({ path, page })),
    )
    expect(named.length).toBeGreaterThan(50)
    expect(named.filter(({ page }) => !existsSync(new URL(page, ROOT)))).toEqual([])
  })
})
