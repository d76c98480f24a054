import { existsSync, globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ERRORS } from '../../src/base/errors.ts'

const ROOT = new URL('../../', import.meta.url)

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8')
}

function find(pattern: string): string[] {
  return globSync(pattern, { cwd: ROOT }).filter((path) => !/^(node_modules|dist|test\/corpus)\//.test(path))
}

/** Where the sources name the code of an issue: after `code:`, or as the second argument of `report(`. */
const CODE_PLACE = /(?:\bcode:\s*|\breport\(\s*issues,\s*)([^,]*),/g
const SNAKE_CASE = /'([a-z]+(?:_[a-z0-9]+)+)'/g

function emittedIssueCodes(): Set<string> {
  const sources = [
    ...find('src/trace/{,otel/}*.ts'),
    ...find('src/trace/price/*-issues.ts'),
    ...find('processors/**/*.ts'),
  ].filter((path) => !path.endsWith('.test.ts'))
  const codes = sources.flatMap((path) =>
    [...read(path).matchAll(CODE_PLACE)].flatMap(([, place = '']) =>
      [...place.matchAll(SNAKE_CASE)].map(([, code = '']) => code),
    ),
  )
  return new Set(codes.filter((code) => !Object.hasOwn(ERRORS, code)))
}

describe('docs/issues.md', () => {
  it('lists every issue code that the sources emit, and no other', () => {
    const documented = [...read('docs/issues.md').matchAll(/^\| `([a-z0-9_]+)` \|/gm)].map(([, code]) => code)
    expect(new Set(documented)).toEqual(emittedIssueCodes())
    expect(new Set(documented).size).toBe(documented.length)
  })
})

describe('docs/protocol', () => {
  const rules = find('docs/protocol/*.md').flatMap((path) =>
    [...read(path).matchAll(/^- \*\*([A-Z]+-\d+)\*\* (.*)$/gm)].map(([, id = '', text = '']) => ({
      id,
      text,
    })),
  )
  const tests = find('{src,processors,scripts,test}/**/*.test.ts').map(read).join('\n')

  it('numbers each rule once', () => {
    expect(rules.length).toBeGreaterThan(20)
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length)
  })

  it('has a test for every rule: one that cites it, or one that it names', () => {
    const unshown = rules.filter(({ id, text }) => {
      const named = [...text.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, path = '']) => path)
      const cited = new RegExp(`\\b${id}\\b`).test(tests)
      return !cited && (named.length === 0 || !named.every((path) => existsSync(new URL(path, ROOT))))
    })
    expect(unshown).toEqual([])
  })

  it('is cited only by rules that exist', () => {
    const ids = new Set(rules.map(({ id }) => id))
    const cited = [...tests.matchAll(/\b(?:INGEST|LLM)-\d+\b/g)].map(([id]) => id)
    expect(cited.filter((id) => !ids.has(id))).toEqual([])
  })
})

describe('links', () => {
  const pages = find('{*.md,docs/**/*.md,processors/*.md}')

  it.each(pages)('%s points only to files that exist', (page) => {
    const targets = [...read(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target)
    const local = targets.filter((target) => !/^[a-z]+:/.test(target))
    expect(local.filter((target) => !existsSync(new URL(target, new URL(page, ROOT))))).toEqual([])
  })
})
