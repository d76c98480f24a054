import { stringify } from 'yaml'
import { AppError } from '../base/errors.ts'
import type { ApiKey } from '../identity/identity-store.ts'
import { formatDecimal, parseDecimal } from '../trace/price/decimal.ts'
import type {
  InOneTransaction,
  SetupStores,
  WantedFeedback,
  WantedKey,
  WantedMember,
  WantedPrice,
  WantedWorkspace,
} from './setup.ts'

/** The set-up of an organization as the text of a file, without secrets. @throws AppError conflict */
export type ExportSetup = (organization_id: string) => Promise<string>

/** What is read of an organization, and the names of its workspaces. */
interface Reading {
  stores: SetupStores
  organization_id: string
  nameOf: ReadonlyMap<string, string>
  /** What a file cannot say, each a line. */
  left_out: string[]
}

const MILLION = 1_000_000n
const MAX_CONFIGS = 10_000

/** @throws AppError conflict when two workspaces have one name, since a file knows them by their names */
async function workspaceNames(stores: SetupStores, organization_id: string): Promise<Map<string, string>> {
  const all = await stores.identity.workspaces(organization_id)
  const names = all.map(({ display_name }) => display_name)
  const repeated = names.find((name, at) => names.indexOf(name) !== at)
  if (repeated !== undefined)
    throw new AppError('conflict', {
      message: `Several workspaces are named "${repeated}": rename some first.`,
    })
  return new Map(all.map(({ id, display_name }) => [id, display_name]))
}

function namesOf({ nameOf }: Reading, ids: readonly string[] | null): { workspaces?: string[] } {
  if (ids === null) return {}
  return { workspaces: ids.flatMap((id) => nameOf.get(id) ?? []).toSorted((a, b) => (a < b ? -1 : 1)) }
}

async function readWorkspaces({ stores, organization_id, nameOf }: Reading): Promise<WantedWorkspace[]> {
  const monthly = await stores.usageLimits.list(organization_id)
  const all: WantedWorkspace[] = []
  for (const [id, name] of nameOf) {
    const retention_days = await stores.retention.of(id)
    const traces = monthly.find(({ workspace_id }) => workspace_id === id)?.limit_value ?? null
    const rate = (await stores.ingestLimits.list(id)).find(({ api_key_id }) => api_key_id === null)
    const { runs_per_minute = null, bytes_per_minute = null } = rate ?? {}
    const ingest = {
      ...(runs_per_minute !== null && { runs_per_minute }),
      ...(bytes_per_minute !== null && { bytes_per_minute }),
    }
    const limits = {
      ...(traces !== null && { traces_per_month: traces }),
      ...(Object.keys(ingest).length > 0 && { ingest }),
    }
    all.push({
      name,
      ...(retention_days !== null && { retention_days }),
      ...(Object.keys(limits).length > 0 && { limits }),
    })
  }
  return all
}

async function readMembers(reading: Reading): Promise<WantedMember[]> {
  const { stores, organization_id, left_out } = reading
  const all = await stores.identity.members(organization_id)
  return all.flatMap(({ email, full_name, role, workspace_ids, email_claimed }) => {
    const places = namesOf(reading, workspace_ids)
    if (email_claimed !== true && places.workspaces?.length !== 0)
      return [{ email, ...(full_name !== null && { full_name }), role, ...places }]
    const why = email_claimed === true ? 'whose address nobody has proven' : 'who has no workspace'
    left_out.push(`the member ${email}, ${why}`)
    return []
  })
}

/** A name for the variable of a key: `CI_KEY` for `ci`. */
function variableOf(name: string): string {
  const word = name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')
  return `${/^[A-Z]/.test(word) ? '' : 'KEY_'}${word}_KEY`
}

async function readKeys(reading: Reading): Promise<WantedKey[]> {
  const { stores, organization_id, left_out } = reading
  const lasting = (await stores.identity.apiKeys(organization_id, 'service')).filter(
    ({ expires_at }) => expires_at === null,
  )
  const isAlone = ({ description }: ApiKey): boolean =>
    lasting.filter((one) => one.description === description).length === 1
  return lasting.flatMap((key) => {
    const { description: name, role, short_key, workspace_ids, read_only } = key
    const places = namesOf(reading, workspace_ids)
    if (name.trim() !== '' && isAlone(key) && !read_only && places.workspaces?.length !== 0)
      return [{ name, role, ...places, key: { env: variableOf(name) } }]
    left_out.push(`the key ${short_key}, which is read-only or has no name of its own`)
    return []
  })
}

function perMillion(cost: string): number {
  return Number(formatDecimal((parseDecimal(cost) ?? 0n) * MILLION))
}

/** Records that are the same in several workspaces, once, with the names of these workspaces. */
function merged<Item extends object>(found: readonly { item: Item; workspace: string }[]) {
  const groups = Map.groupBy(found, ({ item }) => JSON.stringify(item))
  return [...groups.values()].map((all) => ({
    ...all[0]!.item,
    workspaces: all.map(({ workspace }) => workspace),
  }))
}

async function readPrices({ stores, nameOf, left_out }: Reading): Promise<WantedPrice[]> {
  const found: { item: WantedPrice; workspace: string }[] = []
  for (const [id, workspace] of nameOf)
    for (const price of await stores.prices.list(id)) {
      const { name, match_pattern: match, provider, start_time, prompt_token_threshold } = price
      const { prompt_cost_details, completion_cost_details, conditions } = price
      const more = [prompt_cost_details, completion_cost_details, conditions]
      const isSimple = more.every((one) => Object.keys(one).length === 0) && start_time === null
      if (!isSimple || prompt_token_threshold !== null) {
        left_out.push(`the price "${name}" of ${workspace}, which has more than two costs`)
        continue
      }
      const costs = {
        prompt_per_million: perMillion(price.prompt_cost),
        completion_per_million: perMillion(price.completion_cost),
      }
      found.push({ item: { name, match, ...(provider !== null && { provider }), ...costs }, workspace })
    }
  return merged(found)
}

async function readFeedback({ stores, nameOf }: Reading): Promise<WantedFeedback[]> {
  const found: { item: WantedFeedback; workspace: string }[] = []
  for (const [id, workspace] of nameOf)
    for (const one of await stores.feedback.list(id, { keys: [], limit: MAX_CONFIGS, offset: 0 })) {
      const { type, min, max, categories } = one.feedback_config as Partial<WantedFeedback>
      const bounds = {
        ...(typeof min === 'number' && { min }),
        ...(typeof max === 'number' && { max }),
      }
      const item = {
        key: one.feedback_key,
        type: type ?? 'freeform',
        ...bounds,
        ...(categories && { categories }),
      }
      found.push({ item, workspace })
    }
  return merged(found)
}

const HEAD = `# The set-up of this installation: docs/operating/setup.md. Keys are not in it: set the variables that \`key\` names.`

/** Writes what a set-up can say about an organization, so that applying it finds nothing to do. */
export function createExportSetup(inOneTransaction: InOneTransaction): ExportSetup {
  return (organization_id) =>
    inOneTransaction(organization_id, async (stores) => {
      const nameOf = await workspaceNames(stores, organization_id)
      const reading: Reading = { stores, organization_id, nameOf, left_out: [] }
      const document = {
        version: 1,
        workspaces: await readWorkspaces(reading),
        members: await readMembers(reading),
        service_keys: await readKeys(reading),
        prices: await readPrices(reading),
        feedback: await readFeedback(reading),
      }
      const missing = reading.left_out.map((what) => `# Not in it: ${what.replaceAll(/[\r\n]+/g, ' ')}.`)
      return `${[HEAD, ...missing].join('\n')}\n${stringify(document, { lineWidth: 0 })}`
    })
}
