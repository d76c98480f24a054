import { AppError } from '../../base/errors.ts'
import type { PriceFields } from '../../ingest/prices/price-store.ts'
import { DEFAULT_MATCH_PATH } from '../../trace/price/book.ts'
import { divide, formatDecimal, parseDecimal } from '../../trace/price/decimal.ts'
import { compilePricePattern } from '../../trace/price/pattern.ts'
import type { Section, SetupStep, WantedPrice } from '../setup.ts'
import { assertOnce, changeStep, eachWorkspace, type SetupRun } from '../setup-run.ts'

const SECTION = 'prices'
const MILLION = 1_000_000n

/** Creates and changes own prices, each known in its workspace by its name. */
export async function applyPrices(
  run: SetupRun,
  { items, prune }: Section<WantedPrice>,
): Promise<SetupStep[]> {
  const { prices, identity } = run.stores
  const steps: SetupStep[] = []
  const named = new Set<string>()
  const ids: string[] = []
  for (const item of items) {
    const fields = toFields(item)
    for (const workspace_id of await eachWorkspace(run, item.workspaces)) {
      const key = `${workspace_id} ${item.name}`
      assertOnce(SECTION, item.name, named, key)
      named.add(key)
      const found = (await prices.list(workspace_id)).filter(({ name }) => name === item.name)
      if (found.length > 1)
        throw new AppError('conflict', { message: `prices: several prices are named "${item.name}".` })
      const [before] = found
      if (before === undefined) {
        ids.push((await prices.create(workspace_id, fields)).id)
        steps.push({ section: SECTION, name: item.name, action: 'create', fields: [] })
        continue
      }
      ids.push(before.id)
      const changed = FIELDS.filter((field) => before[field] !== fields[field])
      const after = { ...before, ...Object.fromEntries(FIELDS.map((field) => [field, fields[field]])) }
      if (changed.length > 0) await prices.replace(workspace_id, before.id, after)
      steps.push(changeStep(SECTION, item.name, changed))
    }
  }
  await run.stores.managed.replace(run.organization_id, 'price', ids)
  if (!prune) return steps
  for (const { id: workspace_id } of await identity.workspaces(run.organization_id))
    for (const { id, name } of await prices.list(workspace_id)) {
      if (named.has(`${workspace_id} ${name}`)) continue
      await prices.remove(workspace_id, id)
      steps.push({ section: SECTION, name, action: 'delete', fields: [] })
    }
  return steps
}

/** The fields that a document has; others, such as details, stay as they are. */
const FIELDS = ['match_pattern', 'provider', 'prompt_cost', 'completion_cost'] as const

/** @throws AppError invalid_request for a pattern that is not accepted */
function toFields({ name, match, provider, ...item }: WantedPrice): PriceFields {
  const pattern = compilePricePattern(match)
  if ('error' in pattern)
    throw new AppError('invalid_request', { message: `prices: the match of "${name}" ${pattern.error}.` })
  return {
    name,
    match_pattern: match,
    match_path: DEFAULT_MATCH_PATH,
    provider: provider?.trim() || null,
    start_time: null,
    prompt_token_threshold: null,
    conditions: {},
    prompt_cost: perToken(item.prompt_per_million),
    completion_cost: perToken(item.completion_per_million),
    prompt_cost_details: {},
    completion_cost_details: {},
  }
}

function perToken(perMillion: number): string {
  return formatDecimal(divide(parseDecimal(perMillion) ?? 0n, MILLION))
}
