import { globSync, readFileSync } from 'node:fs'
import {
  citedRules,
  findCrowdedFolders,
  findHomonyms,
  findSmallFiles,
  findUncitedRules,
  findWalkFaults,
} from './house-rules.ts'

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
// Split into parts, so that this file does not match.
const HOMES = ['work', 'root', 'home/\\w+', 'Users/\\w+'].join('|')
const MACHINE_PATH = new RegExp(`(?:^|[\\s'"\`(=])/(?:${HOMES})/`)
const SUPPRESSED_TYPES = new RegExp(['@ts', '(?:ignore|nocheck)'].join('-'))

/** Names that two rooms export on purpose, with the same role in each. */
const SAME_PART = new Set([
  // The routes of one kind of resource, in each of the two APIs.
  'runRoutes',
  'systemRoutes',
])
/** Folders of data: recorded requests, results and pictures, with a file for each case. */
const DATA = /^test\/(?:corpus|golden)\/[^/]+\/|^test\/long\/web\/pictures\//
/** Prefixes that three files of a folder may share. */
const PREFIXED = new Set([
  // One message format per file, under its vendor's name.
  'processors/openai',
])

/** Short files that are separate from their only importer, for the reason above each. */
const APART = new Set([
  // One file for each use case that has a view for one user.
  'src/runs/access/streams.ts',
  // Rules that a test imports separately.
  'src/deploy/deployment-name.ts',
  'src/deploy/plan.ts',
  'ui/views/settings/keys/key-rights.ts',
  // One file for each kind of records that the fuzzer makes.
  'test/support/fuzz/secrets.ts',
  // A separate component, beside the others of the page.
  'ui/views/project/live-mark.tsx',
])

/** Rules that no title of a test cites, for the reason above each. */
const NOT_SHOWN = new Set([
  // Deployed code has no network of its own; docs/graphs/deployments.md lists the addresses that the code can reach.
  'P-26',
  // Timing belongs in benches: bench/protocols.bench.ts measures it.
  'V-48',
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
const texts = sources.map((path) => ({ path, text: readFileSync(new URL(path, ROOT), 'utf8') }))
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')
const tests = globSync(['test/**/*.ts', '{src,processors,scripts,ui}/**/*.test.{ts,tsx}'], {
  cwd: ROOT,
}).filter((path) => !path.startsWith('test/corpus/'))
const readable = globSync('{src,processors,ui,scripts,hosts,test,bench}/**/*.{ts,tsx,mjs,css,py,c,txt}', {
  cwd: ROOT,
}).filter(
  (path) => !/\.gen\.ts$|__init__\.py$|(?:^|\/)(?:dist|node_modules)\//.test(path) && !DATA.test(path),
)
/** Unit tests are beside the code, and are checked separately. */
const [code, unitTests] = [false, true].map((wanted) =>
  readable.filter((path) => (/\.test\.\w+$/.test(path) && !path.startsWith('test/')) === wanted),
) as [string[], string[]]
const testTexts = tests.map((path) => ({ path, text: read(path) }))
const cited = citedRules(testTexts.map(({ text }) => text))
const messages = [
  ...problems.map(({ file, line, why, text }) => `${file}:${line}: ${why}: ${text}`),
  // The web interface imports no code of the server, and may use the same names for other things.
  ...Object.values(Object.groupBy(texts, ({ path }) => (path.startsWith('ui/') ? 'ui' : 'server'))).flatMap(
    (side) => findHomonyms(side, SAME_PART),
  ),
  ...findSmallFiles(texts, APART),
  ...findSmallFiles(testTexts, APART),
  ...findCrowdedFolders(code, PREFIXED),
  ...findCrowdedFolders(unitTests, PREFIXED),
  ...findWalkFaults(read('ARCHITECTURE.md'), new Set(sources)),
  ...['docs/rules.md', 'docs/graphs/custom-auth.md', 'docs/protocol/streams-v2.md'].flatMap((page) =>
    findUncitedRules(read(page), cited, NOT_SHOWN),
  ),
]
for (const message of messages) console.error(message)
console.log(`${disables.length} lint rules disabled, ${messages.length} problems`)
process.exitCode = messages.length === 0 ? 0 : 1
