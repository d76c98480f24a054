import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { chartReport } from './deploy/chart.ts'
import { composeReport } from './deploy/compose.ts'
import { dockerfileProblems } from './deploy/dockerfile.ts'
import { docsReport } from './deploy/docs.ts'
import { ROOT, together } from './deploy/programs.ts'

const OPENAPI = ['docs/api/openapi.json', 'docs/api/deployment-openapi.json']

/** Problems that the schema of the OpenAPI standard finds. */
async function openApiProblems(file: string): Promise<string[]> {
  const { valid, errors } = await new Validator().validate(join(ROOT, file))
  return valid ? [] : [`${file}: ${JSON.stringify(errors)}`]
}

const docs = await docsReport()
const openApi = await Promise.all(OPENAPI.map(openApiProblems))
const { problems, skipped } = together([
  { problems: dockerfileProblems(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')), skipped: [] },
  { problems: openApi.flat(), skipped: [] },
  composeReport(),
  await chartReport(),
  docs,
])
for (const problem of problems) console.error(problem)
for (const reason of skipped) console.log(`skipped: ${reason}`)
console.log(
  `Dockerfile, docker-compose.yml, deploy/helm, OpenAPI, ${docs.count} blocks of docs: ${problems.length} problems, ${skipped.length} skipped`,
)
process.exitCode = problems.length === 0 ? 0 : 1
