import { openApiDocument } from '../api/openapi.ts'
import type { PlatformRoute } from './route.ts'
import { alertRoutes } from './routes/alerts/alerts.ts'
import { apiKeyRoutes } from './routes/identity/api-keys.ts'
import { listedSessionRoutes } from './routes/identity/listed-sessions.ts'
import { browserSessionRoutes } from './routes/identity/sessions.ts'
import { auditRoutes } from './routes/identity/audit.ts'
import { deletionRoutes } from './routes/deleting/deletion.ts'
import { deploymentLogRoutes } from './routes/deployments/logs.ts'
import { deploymentRoutes } from './routes/deployments/deployments.ts'
import { revisionRoutes } from './routes/deployments/revisions.ts'
import { serverFactRoutes } from './routes/deployments/server-facts.ts'
import { commentRoutes } from './routes/feedback/comments.ts'
import { feedbackConfigRoutes } from './routes/feedback/configs.ts'
import { feedbackRoutes } from './routes/feedback/records.ts'
import { feedbackTokenRoutes } from './routes/feedback/tokens.ts'
import { ingestRoutes } from './routes/tracing/ingest.ts'
import { liveRoutes } from './routes/tracing/live.ts'
import { mcpRoutes } from './routes/mcp.ts'
import { inviteRoutes } from './routes/identity/invites.ts'
import { memberRoutes } from './routes/identity/members.ts'
import { providerRoutes } from './routes/identity/providers.ts'
import { organizationRoutes } from './routes/identity/organization.ts'
import { otlpRoutes } from './routes/tracing/otlp.ts'
import { pricePreviewRoutes } from './routes/price-preview.ts'
import { playgroundRoutes } from './routes/playground/playground.ts'
import { secretRoutes } from './routes/playground/secrets.ts'
import { priceRoutes } from './routes/prices.ts'
import { repriceRoutes } from './routes/reprice.ts'
import { runRoutes } from './routes/tracing/runs.ts'
import { projectViewRoutes } from './routes/tracing/project-views.ts'
import { sessionListRoute } from './routes/tracing/session-list.ts'
import { sessionRoutes } from './routes/tracing/sessions.ts'
import { publicRoutes } from './routes/sharing/public.ts'
import { shareRoutes } from './routes/sharing/shares.ts'
import { searchRoutes } from './routes/tracing/search.ts'
import { exportRoute } from './routes/tracing/export.ts'
import { facetRoutes } from './routes/tracing/facets.ts'
import { statsRoutes } from './routes/tracing/stats.ts'
import { systemRoutes } from './routes/system.ts'
import { usageLimitRoutes } from './routes/usage/limits.ts'
import { workspaceLimitRoutes } from './routes/usage/workspace-limits.ts'
import { usageRoutes } from './routes/usage/report.ts'
import { usageRebuildRoutes } from './routes/usage/rebuild.ts'
import { oauthRoutes } from './routes/identity/oauth.ts'
import { sessionV2Routes } from './routes/v2/sessions.ts'
import { runV2Routes } from './routes/v2/runs.ts'
import { threadV2Routes } from './routes/v2/threads.ts'
import { traceV2Routes } from './routes/v2/traces.ts'
import { scimRoutes } from './routes/identity/scim.ts'
import { scimTokenRoutes } from './routes/identity/scim-tokens.ts'
import { setupRoutes } from './routes/identity/setup.ts'
import { workspaceRoutes } from './routes/identity/workspaces.ts'

/** Every route of the platform API. */
export function platformRoutes(): PlatformRoute[] {
  const documents = new Map<string, object>()
  const openApi = (version: string): object => {
    const known = documents.get(version)
    if (known !== undefined) return known
    const document = openApiDocument(routes, version)
    documents.set(version, document)
    return document
  }
  const routes: PlatformRoute[] = [
    ...ingestRoutes(),
    ...otlpRoutes(),
    ...statsRoutes(),
    ...facetRoutes(),
    ...searchRoutes(),
    exportRoute(),
    ...runRoutes(),
    ...liveRoutes(),
    ...runV2Routes(),
    ...traceV2Routes(),
    ...threadV2Routes(),
    ...feedbackRoutes(),
    ...feedbackConfigRoutes(),
    ...feedbackTokenRoutes(),
    ...commentRoutes(),
    ...shareRoutes(),
    ...publicRoutes(),
    sessionListRoute(),
    ...sessionRoutes(),
    ...projectViewRoutes(),
    ...alertRoutes(),
    ...sessionV2Routes(),
    ...deletionRoutes(),
    ...priceRoutes(),
    ...pricePreviewRoutes(),
    ...repriceRoutes(),
    ...playgroundRoutes(),
    ...secretRoutes(),
    ...browserSessionRoutes(),
    ...listedSessionRoutes(),
    ...providerRoutes(),
    ...organizationRoutes(),
    ...workspaceRoutes(),
    ...memberRoutes(),
    ...inviteRoutes(),
    ...apiKeyRoutes(),
    ...auditRoutes(),
    ...usageRoutes(),
    ...usageRebuildRoutes(),
    ...usageLimitRoutes(),
    ...workspaceLimitRoutes(),
    ...setupRoutes(),
    ...scimTokenRoutes(),
    ...scimRoutes(),
    ...deploymentRoutes(),
    ...revisionRoutes(),
    ...deploymentLogRoutes(),
    ...serverFactRoutes(),
    ...mcpRoutes(() => routes),
    ...oauthRoutes(),
    ...systemRoutes(openApi),
  ]
  return routes
}
