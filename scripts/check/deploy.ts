import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { packageVersion } from '../../src/base/node/package-version.ts'
import { type ApiHead, openApiDocument } from '../../src/http/api/openapi.ts'
import type { RouteHead } from '../../src/http/api/route.ts'
import { DEPLOYMENT_API, deploymentRoutes } from '../../src/http/deployment/routes.ts'
import { platformRoutes } from '../../src/http/platform/routes.ts'
import { chartReport } from './deploy/chart.ts'
import { composeReport } from './deploy/compose.ts'
import { dockerfileProblems } from './deploy/dockerfile.ts'
import { docsReport } from './deploy/docs.ts'
import { ROOT, together } from './deploy/programs.ts'

/** Problems that the schema of the OpenAPI standard finds in the document that the server makes. */
async function openApiProblems(routes: readonly RouteHead[], api?: ApiHead): Promise<string[]> {
  const document = structuredClone(openApiDocument(routes, packageVersion(), api))
  const { valid, errors } = await new Validator().validate(document)
  return valid
    ? []
    : [`OpenAPI of ${api === undefined ? 'the platform' : 'a deployment'}: ${JSON.stringify(errors)}`]
}

const docs = await docsReport()
const openApi = await Promise.all([
  openApiProblems(platformRoutes()),
  openApiProblems(deploymentRoutes(), DEPLOYMENT_API),
])
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
