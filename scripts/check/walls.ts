import { readFileSync } from 'node:fs'
import { cruiseSources, unseenFiles, withDiagram } from './wall-rules.ts'

const cruise = cruiseSources()
const unseen = unseenFiles(cruise)
const problems = [
  ...cruise.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`),
  ...unseen.map((file) => `not looked at: ${file}`),
]
const own = cruise.modules.filter(({ source }) => /^(src|processors|ui)\//.test(source)).length
const page = readFileSync(new URL('../../ARCHITECTURE.md', import.meta.url), 'utf8')
if (withDiagram(page, cruise) !== page) problems.push('stale: ARCHITECTURE.md. Run: npm run generate')
if (own === 0) problems.push('no module was looked at')
for (const problem of problems) console.error(problem)
console.log(`${own} modules, ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1
