import { AppError } from '../../../base/errors.ts'
import type { Principal } from '../../../identity/principal.ts'
import type { PriceFields } from '../../../ingest/prices/price-store.ts'
import type { SchemaTypes } from '../../../schema/types.gen.ts'
import { type Decimal, formatDecimal, parseDecimal } from '../../../trace/price/decimal.ts'
import { normalizeProvider } from '../../../trace/price/provider-name.ts'
import type { Price, Rates } from '../../../trace/price/price.ts'
import { DEFAULT_MATCH_PATH, type PriceEntry } from '../../../trace/price/book.ts'
import { compilePricePattern } from '../../../trace/price/pattern.ts'
import { formatTime, parseTime } from '../../../trace/derive/time.ts'
import { bodyFault } from '../../body/json.ts'
import {
  integerParameter,
  requiredTextParameter,
  textParameter,
  uuidParameter,
} from '../../api/parameters.ts'
import type { AppDeps } from '../app-deps.ts'
import { assertUnmanaged, OVERRIDE_QUERY } from '../request/own-change.ts'
import { route, type PlatformRoute } from '../route.ts'
import { boundedPage, NEXT_PAGE, OFFSET_QUERY } from '../next-page.ts'

const TAG = 'Prices'
type Body = SchemaTypes['model-price-write']

function fault(path: string, message: string): AppError {
  return bodyFault([{ code: 'value_error', path, message }])
}

/** A sent price in its normal form. @throws AppError invalid_request */
function amount(value: unknown, path: string): string {
  const cost = parseDecimal(value)
  if (cost === undefined || cost < 0n) throw fault(path, 'must be a decimal number of at least 0')
  return formatDecimal(cost)
}

function amounts(
  sent: Readonly<Record<string, number | string | undefined>> | null | undefined,
  path: string,
): Record<string, string> {
  const entries = Object.entries(sent ?? {})
  if (entries.length > 50) throw fault(path, 'may have 50 keys')
  const read = entries.map(([key, value]) => {
    if (key.length > 128) throw fault(path, 'has a key that is too long')
    return [key, amount(value, `${path}[${JSON.stringify(key)}]`)] as const
  })
  return Object.fromEntries(read)
}

/** Names that a price cannot be conditional on: tiers are details, and usage by model has prices of its own. */
const NO_CONDITIONS = ['service_tier', 'models', 'byok', '__proto__']

/** @throws AppError for a name that no price can be conditional on */
function conditionsOf(sent: Body['conditions'], path: string): Record<string, string> {
  const conditions = Object.entries(sent ?? {})
  for (const [name] of conditions) {
    if (name.length > 128) throw fault(path, 'has a name that is too long')
    if (NO_CONDITIONS.includes(name))
      throw fault(path, `may not name ${name}: the prices of a tier are details, such as flex`)
  }
  return Object.fromEntries(conditions.map(([name, word]) => [name, word ?? '']))
}

/**
 * The fields of a price as sent; `at` is its place in the body, such as `price.`. @throws AppError for an invalid
 * pattern, time or amount
 */
export function toPriceFields(body: Body, at = ''): PriceFields {
  const pattern = compilePricePattern(body.match_pattern)
  if ('error' in pattern)
    throw fault(`${at}match_pattern`, `is no pattern that is taken here: it ${pattern.error}`)
  const start_time = parseTime(body.start_time ?? undefined) ?? null
  if (start_time === null && body.start_time) throw fault(`${at}start_time`, 'must be an ISO 8601 time')
  return {
    name: body.name,
    match_pattern: body.match_pattern,
    match_path: body.match_path ?? DEFAULT_MATCH_PATH,
    provider: body.provider?.trim() || null,
    start_time,
    prompt_token_threshold: body.prompt_token_threshold ?? null,
    conditions: conditionsOf(body.conditions, `${at}conditions`),
    prompt_cost: amount(body.prompt_cost, `${at}prompt_cost`),
    completion_cost: amount(body.completion_cost, `${at}completion_cost`),
    prompt_cost_details: amounts(body.prompt_cost_details, `${at}prompt_cost_details`),
    completion_cost_details: amounts(body.completion_cost_details, `${at}completion_cost_details`),
  }
}

function toModelPrice(
  { workspace_id, start_time, ...entry }: PriceEntry,
  managed: ReadonlySet<string>,
): SchemaTypes['model-price'] {
  return {
    ...entry,
    tenant_id: workspace_id,
    start_time: start_time === null ? null : formatTime(start_time),
    ...(managed.has(entry.id) && { managed: true }),
  }
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new AppError('not_found', { message: 'Model price not found' })
  return value
}

type FoundPrice = NonNullable<SchemaTypes['model-price-lookup']['price']>

function toFoundPrice(price: Price): FoundPrice {
  const text = (cost: Decimal | undefined): string | null => (cost === undefined ? null : formatDecimal(cost))
  const details = (rates: Rates): Record<string, string> =>
    Object.fromEntries(Object.entries(rates.details).map(([key, cost]) => [key, formatDecimal(cost)]))
  return {
    price_model_id: price.price_model_id,
    source: price.price_model_id.includes(':') ? 'default' : 'own',
    prompt_cost: text(price.input.base),
    completion_cost: text(price.output.base),
    prompt_cost_details: details(price.input),
    completion_cost_details: details(price.output),
    request_cost: formatDecimal(price.request),
  }
}

function lookupRoute(): PlatformRoute {
  return route({
    method: 'GET',
    path: '/model-price-map/lookup',
    needs: 'workspaces:read',
    summary: 'The price that a run would be costed with',
    tag: TAG,
    query: {
      model: requiredTextParameter('As the run names it.'),
      provider: textParameter('As the run names it.'),
      at: textParameter('When the run started, ISO 8601; now if absent.'),
      prompt_tokens: integerParameter('Long prompts may have prices of their own.', {
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        otherwise: 0,
      }),
    },
    reply: 'model-price-lookup',
    async handle({ deps, principal, query }) {
      const at = query.at === undefined ? deps.clock.now() * 1000 : parseTime(query.at)
      if (at === undefined) throw new AppError('invalid_request', { message: 'at must be an ISO 8601 time.' })
      const { price, default_prices } = await deps.findPrice(principal.workspace_id, {
        model: query.model,
        provider: query.provider === undefined ? undefined : normalizeProvider(query.provider),
        at,
        input_tokens: query.prompt_tokens,
      })
      return { body: { price: price ? toFoundPrice(price) : null, default_prices } }
    },
  })
}

function managedPrices({ managed }: AppDeps, { organization_id }: Principal): Promise<ReadonlySet<string>> {
  return managed.ids(organization_id, 'price')
}

/** @throws AppError not_found, managed_by_file */
async function assertOwnPrice(
  deps: AppDeps,
  principal: Principal,
  price: { id: string; override: boolean },
): Promise<void> {
  const own = await deps.prices.list(principal.workspace_id)
  found(own.find(({ id }) => id === price.id))
  await assertUnmanaged(deps, principal, { kind: 'price', ...price })
}

/** Own prices in LangSmith's shape. */
export function priceRoutes(): PlatformRoute[] {
  const params = { id: uuidParameter('Id of the price.') }
  return [
    route({
      method: 'GET',
      path: '/model-price-map',
      needs: 'workspaces:read',
      summary: 'List own prices',
      description: `The default prices are not listed; look them up by model. ${NEXT_PAGE}`,
      tag: TAG,
      query: OFFSET_QUERY,
      reply: 'model-price-list',
      async handle({ deps, principal, query }) {
        const entries = await deps.prices.list(principal.workspace_id)
        const managed = await managedPrices(deps, principal)
        const shown = entries.map((entry) => toModelPrice(entry, managed))
        const { headers, body } = boundedPage(shown, query.offset)
        return { headers: { 'x-pagination-total': String(entries.length), ...headers }, body }
      },
    }),
    lookupRoute(),
    route({
      method: 'POST',
      path: '/model-price-map',
      needs: 'workspaces:manage',
      summary: 'Add a price of your own',
      description:
        'Counts for what is ingested from now on, before the default prices; POST /runs/reprice for what is stored.',
      tag: TAG,
      body: 'model-price-write',
      reply: 'model-price',
      errors: ['conflict'],
      async handle({ deps, principal, body }) {
        const price = await deps.prices.create(principal.workspace_id, toPriceFields(body))
        return { body: toModelPrice(price, await managedPrices(deps, principal)) }
      },
    }),
    route({
      method: 'PUT',
      path: '/model-price-map/{id}',
      needs: 'workspaces:manage',
      summary: 'Replace an own price',
      tag: TAG,
      params,
      query: OVERRIDE_QUERY,
      body: 'model-price-write',
      reply: 'model-price',
      errors: ['not_found', 'conflict', 'managed_by_file'],
      async handle({ deps, principal, params: { id }, query: { override }, body }) {
        await assertOwnPrice(deps, principal, { id, override })
        const fields = toPriceFields(body)
        const price = found(await deps.prices.replace(principal.workspace_id, id, fields))
        return { body: toModelPrice(price, await managedPrices(deps, principal)) }
      },
    }),
    route({
      method: 'DELETE',
      path: '/model-price-map/{id}',
      needs: 'workspaces:manage',
      summary: 'Remove an own price',
      tag: TAG,
      params,
      query: OVERRIDE_QUERY,
      reply: 'bytes',
      errors: ['not_found', 'managed_by_file'],
      async handle({ deps, principal, params: { id }, query: { override } }) {
        await assertOwnPrice(deps, principal, { id, override })
        found((await deps.prices.remove(principal.workspace_id, id)) || undefined)
        return { body: '{}' }
      },
    }),
  ]
}
