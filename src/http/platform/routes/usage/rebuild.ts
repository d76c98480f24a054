import { AppError } from '../../../../base/errors.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import type { UsageRebuild, UsageRebuilds } from '../../../../usage/counting/rebuilds.ts'
import type { AppDeps } from '../../app-deps.ts'
import { route, type PlatformRoute } from '../../route.ts'

const TAG = 'Usage'
const PATH = '/orgs/current/billing/usage-rebuild'

/** @throws AppError usage_disabled */
function rebuildsOf({ usage }: AppDeps): UsageRebuilds {
  if (usage === undefined) throw new AppError('usage_disabled')
  return usage.rebuilds
}

function toAnswer(rebuild: UsageRebuild | undefined): SchemaTypes['usage-rebuild'] {
  if (rebuild === undefined) return { status: 'none', started_at: null, finished_at: null, error: null }
  const { status, started_at, finished_at, error } = rebuild
  return {
    status,
    started_at: new Date(started_at).toISOString(),
    finished_at: finished_at === null ? null : new Date(finished_at).toISOString(),
    error,
  }
}

export function usageRebuildRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'POST',
      path: PATH,
      needs: 'organization:manage',
      whole_organization: true,
      summary: 'Rebuild the usage rollups',
      description:
        'In the background, from the counted traces. No count changes; one is enough after a repair of the store.',
      tag: TAG,
      reply: 'usage-rebuild',
      status: 202,
      errors: ['usage_disabled'],
      handle: async ({ deps }) => ({ body: toAnswer(rebuildsOf(deps).start()) }),
    }),
    route({
      method: 'GET',
      path: PATH,
      needs: 'organization:read',
      summary: 'The last rebuild of the usage rollups by this server',
      tag: TAG,
      reply: 'usage-rebuild',
      errors: ['usage_disabled'],
      handle: async ({ deps }) => ({ body: toAnswer(rebuildsOf(deps).last()) }),
    }),
  ]
}
