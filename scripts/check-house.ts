import { globSync, readFileSync } from 'node:fs'

const ROOT = new URL('../', import.meta.url)
const CODE = ['src/**/*.ts', 'processors/**/*.ts', 'scripts/**/*.{ts,mjs}', 'test/**/*.ts', 'bench/**/*.ts']
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
// Spelled in pieces, so that this file does not find itself.
const HOMES = ['work', 'root', 'home/\\w+', 'Users/\\w+'].join('|')
const MACHINE_PATH = new RegExp(`(?:^|[\\s'"\`(=])/(?:${HOMES})/`)
const SUPPRESSED_TYPES = new RegExp(['@ts', '(?:ignore|nocheck)'].join('-'))

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

const own = 'scripts/check-house.ts'
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
for (const { file, line, why, text } of problems) console.error(`${file}:${line}: ${why}: ${text}`)
console.log(`${disables.length} lint rules disabled, ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1
