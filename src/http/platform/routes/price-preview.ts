import type { SchemaTypes } from '../../../schema/types.gen.ts'
import { parseUuid } from '../../../base/ids.ts'
import type { PreviewedCosts } from '../../../ingest/prices/preview.ts'
import { formatDecimal } from '../../../trace/price/decimal.ts'
import { formatTime } from '../../../trace/derive/time.ts'
import { route, type PlatformRoute } from '../route.ts'
import { toPriceFields } from './prices.ts'
import { toScope } from './reprice.ts'

function toPreview({
  cost_before,
  cost_after,
  examined_from,
  ...counts
}: PreviewedCosts): SchemaTypes['model-price-preview'] {
  return {
    ...counts,
    cost_before: formatDecimal(cost_before),
    cost_after: formatDecimal(cost_after),
    examined_from: examined_from === null ? null : formatTime(examined_from),
  }
}

/** Defines the route that previews the effect of a change of own prices on stored costs (N18). */
export function pricePreviewRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'POST',
      path: '/model-price-map/preview',
      needs: 'workspaces:manage',
      summary: 'What a change of prices would change in stored costs',
      description:
        'Compares stored costs with those that POST /runs/reprice would give after the change, and stores nothing. Looks at the newest 100,000 calls of the range.',
      tag: 'Prices',
      body: 'model-price-preview-request',
      reply: 'model-price-preview',
      errors: ['not_found', 'store_unavailable'],
      async handle({ deps, principal, body, gone }) {
        const change = {
          fields: body.price ? toPriceFields(body.price, 'price.') : undefined,
          replaces: parseUuid(body.replaces),
        }
        const costs = await deps.previewPrices(principal.workspace_id, toScope(body), change, gone())
        return { body: toPreview(costs) }
      },
    }),
  ]
}
