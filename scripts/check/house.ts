import { globSync, readFileSync } from 'node:fs'
import {
  citedRules,
  findCrowdedFolders,
  findHomonyms,
  findLostPlaces,
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
// The words are joined here, so that this file does not match itself.
const HOMES = ['work', 'root', 'home/\\w+', 'Users/\\w+'].join('|')
const MACHINE_PATH = new RegExp(`(?:^|[\\s'"\`(=])/(?:${HOMES})/`)
const SUPPRESSED_TYPES = new RegExp(['@ts', '(?:ignore|nocheck)'].join('-'))

/** Names that two rooms export on purpose, with the same role in each. */
const SAME_PART = new Set([
  // Each of the two APIs has routes for this kind of resource.
  'runRoutes',
  'systemRoutes',
])
/** Folders of data: recorded requests and results. They have a file for each case. */
const DATA = /^test\/(?:corpus|golden)\/[^/]+\//
/** Prefixes that three files of a folder may share. */
const PREFIXED = new Set([
  // Each file has one message format, and its name begins with the vendor's.
  'processors/openai',
])

/** Short files that stay separate from their only importer, each for the reason above it. */
const APART = new Set([
  // Each use case that shows data to one user has its own file.
  'src/runs/access/streams.ts',
  // A test imports these rules without their importer.
  'src/deploy/deployment-name.ts',
  'src/deploy/plan.ts',
  'ui/views/settings/keys/key-rights.ts',
  // Each kind of records that the fuzzer makes has its own file.
  'test/support/fuzz/secrets.ts',
  // The page's other components have files of their own, too.
  'ui/views/project/live-mark.tsx',
])

/** Rules that no title of a test cites, each for the reason above it. */
const NOT_SHOWN = new Set([
  // Deployed code has no network of its own. docs/graphs/deployments.md lists the addresses that the code can reach.
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
// Generated types are named after their schemas. Rooms use the same names for the same data in another form.
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
/** Unit tests are beside the code; they are checked separately. */
const [code, unitTests] = [false, true].map((wanted) =>
  readable.filter((path) => (/\.test\.\w+$/.test(path) && !path.startsWith('test/')) === wanted),
) as [string[], string[]]
const testTexts = tests.map((path) => ({ path, text: read(path) }))
const cited = citedRules(testTexts.map(({ text }) => text))
const messages = [
  ...problems.map(({ file, line, why, text }) => `${file}:${line}: ${why}: ${text}`),
  // The web interface imports no code of the server, so the same name may mean something else there.
  ...Object.values(Object.groupBy(texts, ({ path }) => (path.startsWith('ui/') ? 'ui' : 'server'))).flatMap(
    (side) => findHomonyms(side, SAME_PART),
  ),
  ...findSmallFiles(texts, APART),
  ...findSmallFiles(testTexts, APART),
  ...findCrowdedFolders(code, PREFIXED),
  ...findCrowdedFolders(unitTests, PREFIXED),
  ...findWalkFaults(read('ARCHITECTURE.md'), new Set(sources)),
  ...findLostPlaces(read('ARCHITECTURE.md'), new Set(code)),
  ...['docs/rules.md', 'docs/graphs/custom-auth.md', 'docs/protocol/streams-v2.md'].flatMap((page) =>
    findUncitedRules(read(page), cited, NOT_SHOWN),
  ),
]
for (const message of messages) console.error(message)
console.log(`${disables.length} lint rules disabled, ${messages.length} problems`)
process.exitCode = messages.length === 0 ? 0 : 1
