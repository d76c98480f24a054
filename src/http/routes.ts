import { openApiDocument } from './openapi.ts'
import { guardRoutes } from './permissions.ts'
import type { GuardedRoute } from './route.ts'
import { apiKeyRoutes } from './routes/api-keys.ts'
import { auditRoutes } from './routes/audit.ts'
import { feedbackRoutes } from './routes/feedback.ts'
import { ingestRoutes } from './routes/ingest.ts'
import { memberRoutes } from './routes/members.ts'
import { organizationRoutes } from './routes/organization.ts'
import { otlpRoutes } from './routes/otlp.ts'
import { priceRoutes } from './routes/prices.ts'
import { repriceRoutes } from './routes/reprice.ts'
import { runRoutes } from './routes/runs.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { systemRoutes } from './routes/system.ts'
import { usageLimitRoutes } from './routes/usage-limits.ts'
import { usageRoutes } from './routes/usage.ts'
import { usageRebuildRoutes } from './routes/usage-rebuild.ts'
import { workspaceRoutes } from './routes/workspaces.ts'

/** Every route of the platform API, each with what it needs. */
export function platformRoutes(): GuardedRoute[] {
  const documents = new Map<string, object>()
  const openApi = (version: string): object => {
    const known = documents.get(version)
    if (known !== undefined) return known
    const document = openApiDocument(routes, version)
    documents.set(version, document)
    return document
  }
  const routes = guardRoutes([
    ...ingestRoutes(),
    ...otlpRoutes(),
    ...runRoutes(),
    ...feedbackRoutes(),
    ...sessionRoutes(),
    ...priceRoutes(),
    ...repriceRoutes(),
    ...organizationRoutes(),
    ...workspaceRoutes(),
    ...memberRoutes(),
    ...apiKeyRoutes(),
    ...auditRoutes(),
    ...usageRoutes(),
    ...usageRebuildRoutes(),
    ...usageLimitRoutes(),
    ...systemRoutes(openApi),
  ])
  return routes
}
