import { globSync, readFileSync } from 'node:fs'
import { findCrowdedFolders, findHomonyms, findWalkFaults } from './house-rules.ts'

const ROOT = new URL('../../', import.meta.url)
const CODE = [
  'src/**/*.ts',
  'processors/**/*.ts',
  'ui/**/*.{ts,tsx,css}',
  'scripts/**/*.{ts,mjs}',
  'test/**/*.ts',
  'bench/**/*.ts',
]
const TEXT = [
  '*.md',
  'docs/**/*.md',
  'schemas/*.json',
  '*.{yml,json}',
  'Dockerfile',
  '.ci/run',
  'deploy/**/*.*',
]
const MAX_DISABLES = 5
const DISABLE = /(?:oxlint|eslint)-disable/
const DISABLE_WITH_REASON = /(?:oxlint|eslint)-disable[\w-]*\s+[\w/,\s@-]+\s--\s\S/
// Split into parts, so that the check does not match this file.
const HOMES = ['work', 'root', 'home/\\w+', 'Users/\\w+'].join('|')
const MACHINE_PATH = new RegExp(`(?:^|[\\s'"\`(=])/(?:${HOMES})/`)
const SUPPRESSED_TYPES = new RegExp(['@ts', '(?:ignore|nocheck)'].join('-'))

/** Names that two rooms export on purpose, with the same role in each. */
const SAME_PART = new Set([
  // The routes of one kind of resource, in each of the two APIs.
  'runRoutes',
  'systemRoutes',
])
/** Prefixes that three files of a folder may share. */
const PREFIXED = new Set([
  // One message format per file, named as its vendor names it.
  'processors/openai',
])

interface Finding {
  file: string
  line: number
  text: string
}

function findLines(patterns: readonly string[], wanted: RegExp): Finding[] {
  const files = globSync(patterns, { cwd: ROOT }).filter(
    (file) => !/\.gen\.ts$|^test\/corpus|package-lock/.test(file),
  )
  return files.flatMap((file) =>
    readFileSync(new URL(file, ROOT), 'utf8')
      .split('\n')
      .flatMap((text, index) => (wanted.test(text) ? [{ file, line: index + 1, text: text.trim() }] : [])),
  )
}

const own = 'scripts/check/house.ts'
const disables = findLines(CODE, DISABLE).filter(({ file }) => file !== own)
const problems = [
  ...findLines([...CODE, ...TEXT], MACHINE_PATH).map((found) => ({ ...found, why: 'path of one machine' })),
  ...findLines(CODE, SUPPRESSED_TYPES).map((found) => ({ ...found, why: 'types switched off' })),
  ...disables
    .filter(({ text }) => !DISABLE_WITH_REASON.test(text))
    .map((found) => ({ ...found, why: 'lint rule disabled without a reason after --' })),
  ...disables
    .slice(MAX_DISABLES)
    .map((found) => ({ ...found, why: `more than ${MAX_DISABLES} lint rules disabled` })),
]
// Generated types have the names of their schemas, which rooms also use for the same data in another form.
const sources = globSync(['src/**/*.ts', 'processors/**/*.ts', 'ui/**/*.{ts,tsx}'], { cwd: ROOT }).filter(
  (path) => !/\.(?:test|gen)\.ts$/.test(path),
)
const messages = [
  ...problems.map(({ file, line, why, text }) => `${file}:${line}: ${why}: ${text}`),
  ...findHomonyms(
    sources.map((path) => ({ path, text: readFileSync(new URL(path, ROOT), 'utf8') })),
    SAME_PART,
  ),
  ...findCrowdedFolders(sources, PREFIXED),
  ...findWalkFaults(readFileSync(new URL('ARCHITECTURE.md', ROOT), 'utf8'), new Set(sources)),
]
for (const message of messages) console.error(message)
console.log(`${disables.length} lint rules disabled, ${messages.length} problems`)
process.exitCode = messages.length === 0 ? 0 : 1
