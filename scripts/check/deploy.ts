import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { chartReport } from './deploy/chart.ts'
import { composeReport } from './deploy/compose.ts'
import { dockerfileProblems } from './deploy/dockerfile.ts'
import { ROOT, together } from './deploy/programs.ts'

const { problems, skipped } = together([
  { problems: dockerfileProblems(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')), skipped: [] },
  composeReport(),
  await chartReport(),
])
for (const problem of problems) console.error(problem)
for (const reason of skipped) console.log(`skipped: ${reason}`)
console.log(
  `Dockerfile, docker-compose.yml, deploy/helm: ${problems.length} problems, ${skipped.length} skipped`,
)
process.exitCode = problems.length === 0 ? 0 : 1
