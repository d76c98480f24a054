import { openApiDocument } from './openapi.ts'
import type { Route } from './route.ts'
import { feedbackRoutes } from './routes/feedback.ts'
import { identityRoutes } from './routes/identity.ts'
import { ingestRoutes } from './routes/ingest.ts'
import { otlpRoutes } from './routes/otlp.ts'
import { priceRoutes } from './routes/prices.ts'
import { repriceRoutes } from './routes/reprice.ts'
import { runRoutes } from './routes/runs.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { systemRoutes } from './routes/system.ts'

/** Every route of the platform API. */
export function platformRoutes(): Route[] {
  const documents = new Map<string, object>()
  const openApi = (version: string): object => {
    const known = documents.get(version)
    if (known !== undefined) return known
    const document = openApiDocument(routes, version)
    documents.set(version, document)
    return document
  }
  const routes = [
    ...ingestRoutes(),
    ...otlpRoutes(),
    ...runRoutes(),
    ...feedbackRoutes(),
    ...sessionRoutes(),
    ...priceRoutes(),
    ...repriceRoutes(),
    ...identityRoutes(),
    ...systemRoutes(openApi),
  ]
  return routes
}
