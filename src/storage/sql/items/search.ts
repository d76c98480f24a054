import { chunksOf } from '../../../base/chunks.ts'
import type { ItemSearch } from '../../../runs/items/kv-store.ts'
import type { Tenant } from '../../../runs/model.ts'
import { parseExact } from '../../../schema/exact-json.ts'
import type { JsonObject } from '../../../schema/json.ts'
import type { Database, SqlValue } from '../driver/database.ts'
import { matchesFilter } from './filter.ts'
import { IS_THERE, ITEM, type ItemRow, namespaceOfRow, OF_PREFIX } from './rows.ts'
import { cosine, decodeVector } from './vectors.ts'
import { fitting, PAGE_BYTES, portionsOf, type Sized } from '../../../base/portions.ts'
import { inList } from '../runs/rows.ts'

interface VectorRow {
  namespace: string
  item_key: string
  path: string
  vector: string
}

/**
 * Items `i` below a prefix that have not expired; parameters: the prefix as JSON, deployment, workspace, the current
 * time.
 */
const FROM_PREFIX = `FROM store_prefixes p JOIN store_items i ON i.namespace = p.namespace
  AND i.deployment_id = p.deployment_id AND i.workspace_id = p.workspace_id WHERE ${OF_PREFIX} AND ${IS_THERE}`
/** Number of places that one statement reads. Places have no values, so they are small. */
const PLACES = 5000
/** Number of items whose vectors are compared at a time. */
const SCORED = 128

/** Key, size and sort order of an item, without its value. */
interface ItemPlace extends Sized {
  namespace: string
  item_key: string
  changed: number
}

type Place = Pick<ItemRow, 'namespace' | 'item_key'>

const PLACE = 'i.namespace, i.item_key, i.changed, octet_length(i.item) AS bytes'
/** Last changed first. */
const ORDER = 'ORDER BY i.changed DESC, i.item_key, i.namespace'
const BEHIND = `AND (i.changed < ? OR i.changed = ? AND (i.item_key > ? OR i.item_key = ? AND i.namespace > ?))`

function placeId({ namespace, item_key }: Place): string {
  return `${namespace} ${item_key}`
}

async function placesBelow(
  session: Pick<Database, 'query'>,
  tenant: Tenant,
  prefix: readonly string[],
  now: number,
  page: { limit: number; offset?: number; behind?: ItemPlace | undefined },
): Promise<ItemPlace[]> {
  const { limit, offset = 0, behind } = page
  const of = [JSON.stringify(prefix), tenant.deployment_id, tenant.workspace_id, now]
  const place =
    behind === undefined
      ? []
      : [behind.changed, behind.changed, behind.item_key, behind.item_key, behind.namespace]
  return await session.query<ItemPlace>(
    `SELECT ${PLACE} ${FROM_PREFIX} ${behind === undefined ? '' : BEHIND} ${ORDER} LIMIT ? OFFSET ?`,
    [...of, ...place, limit, offset],
  )
}

/** The places of all items below a prefix, in order, `PLACES` per statement. */
async function* allPlacesBelow(
  session: Pick<Database, 'query'>,
  tenant: Tenant,
  prefix: readonly string[],
  now: number,
): AsyncGenerator<ItemPlace[]> {
  let behind: ItemPlace | undefined
  do {
    const places = await placesBelow(session, tenant, prefix, now, { limit: PLACES, behind })
    if (places.length > 0) yield places
    behind = places.length < PLACES ? undefined : places.at(-1)
  } while (behind !== undefined)
}

/** `WHERE` term for rows of one tenant at `places`, and its values. */
function atPlaces(tenant: Tenant, places: readonly Place[]): { sql: string; values: SqlValue[] } {
  const namespaces = inList(places.map(({ namespace }) => namespace))
  const keys = inList(places.map(({ item_key }) => item_key))
  const pairs = namespaces.values.flatMap((namespace, index) => [namespace, keys.values[index] ?? ''])
  return {
    sql: `(namespace, item_key) IN (VALUES ${namespaces.values.map(() => '(?, ?)').join(', ')})
      AND deployment_id = ? AND workspace_id = ?`,
    values: [...pairs, tenant.deployment_id, tenant.workspace_id],
  }
}

/** Complete items at places, in that order; deleted ones are left out. */
async function* readItems(
  session: Pick<Database, 'query'>,
  tenant: Tenant,
  places: readonly ItemPlace[],
): AsyncGenerator<ItemRow[]> {
  for await (const portion of portionsOf(places)) {
    const { sql, values } = atPlaces(tenant, portion)
    const bytes = portion.reduce((sum, place) => sum + place.bytes, 0)
    const rows = await session.query<ItemRow>(`SELECT ${ITEM} FROM store_items WHERE ${sql}`, values, bytes)
    const byPlace = new Map(rows.map((row) => [placeId(row), row]))
    yield portion.flatMap((place) => byPlace.get(placeId(place)) ?? [])
  }
}

type Wanted = Pick<ItemSearch, 'namespace_prefix' | 'filter' | 'visible'>

/** The places of all items that match a search, in order, one portion at a time. */
async function* matchingPlaces(
  session: Pick<Database, 'query'>,
  tenant: Tenant,
  { namespace_prefix, filter, visible }: Wanted,
  now: number,
): AsyncGenerator<ItemPlace[]> {
  const isFiltered = visible !== undefined || Object.keys(filter ?? {}).length > 0
  const fits = (row: ItemRow): boolean => {
    const value = parseExact(row.item) as JsonObject
    if (!matchesFilter(value, filter ?? {})) return false
    return visible === undefined || visible({ namespace: namespaceOfRow(row), key: row.item_key, value })
  }
  for await (const places of allPlacesBelow(session, tenant, namespace_prefix, now)) {
    if (!isFiltered) {
      yield places
      continue
    }
    const byId = new Map(places.map((place) => [placeId(place), place]))
    for await (const rows of readItems(session, tenant, places)) {
      const found = rows.filter(fits).flatMap((row) => byId.get(placeId(row)) ?? [])
      if (found.length > 0) yield found
    }
  }
}

/** The places of a page and one more place, if more follow. */
async function placesOfPage(
  session: Pick<Database, 'query'>,
  tenant: Tenant,
  search: ItemSearch,
  now: number,
): Promise<ItemPlace[]> {
  const { namespace_prefix, filter, visible, limit, offset } = search
  const wanted = limit + 1
  if (visible === undefined && Object.keys(filter ?? {}).length === 0)
    return await placesBelow(session, tenant, namespace_prefix, now, { limit: wanted, offset })
  const found: ItemPlace[] = []
  for await (const places of matchingPlaces(session, tenant, search, now)) {
    found.push(...places)
    if (found.length >= offset + wanted) break
  }
  return found.slice(offset, offset + wanted)
}

/** A page of items that match a search: last changed first, or nearest first when `vector` is given. */
export async function findItems(
  session: Pick<Database, 'query'>,
  tenant: Tenant,
  search: ItemSearch,
  now: number,
  vector: ArrayLike<number> | undefined,
): Promise<{ found: { row: ItemRow; score: number | null }[]; more: boolean }> {
  const { limit, max_bytes = PAGE_BYTES } = search
  const places =
    vector === undefined
      ? (await placesOfPage(session, tenant, search, now)).map((place) => ({ ...place, score: null }))
      : await nearestPlaces(session, tenant, search, now, vector)
  const shown = fitting(places.slice(0, limit), max_bytes)
  const scores = new Map(shown.map((place) => [placeId(place), place.score]))
  const found: { row: ItemRow; score: number | null }[] = []
  for await (const rows of readItems(session, tenant, shown)) {
    for (const row of rows) found.push({ row, score: scores.get(placeId(row)) ?? null })
  }
  return { found, more: shown.length < places.length }
}

/**
 * The places of a page, sorted by the similarity of the items to the query, and one more place, if more follow. Items
 * without vectors come last.
 */
async function nearestPlaces(
  session: Pick<Database, 'query'>,
  tenant: Tenant,
  search: ItemSearch,
  now: number,
  vector: ArrayLike<number>,
): Promise<(ItemPlace & { score: number | null })[]> {
  const scored: (ItemPlace & { score: number | null })[] = []
  for await (const places of matchingPlaces(session, tenant, search, now)) {
    for (const chunk of chunksOf(places, SCORED)) {
      const scores = await scoresAt(session, tenant, chunk, vector)
      scored.push(...chunk.map((place) => ({ ...place, score: scores.get(placeId(place)) ?? null })))
    }
  }
  const { offset, limit } = search
  return scored.sort((a, b) => (b.score ?? -2) - (a.score ?? -2)).slice(offset, offset + limit + 1)
}

/** The similarity of each item: the best similarity of its texts. */
async function scoresAt(
  session: Pick<Database, 'query'>,
  tenant: Tenant,
  places: readonly Place[],
  vector: ArrayLike<number>,
): Promise<Map<string, number>> {
  const { sql, values } = atPlaces(tenant, places)
  const rows = await session.query<VectorRow>(
    `SELECT namespace, item_key, path, vector FROM store_vectors WHERE ${sql}`,
    values,
  )
  const scores = new Map<string, number>()
  for (const row of rows) {
    const score = cosine(vector, decodeVector(row.vector))
    scores.set(placeId(row), Math.max(score, scores.get(placeId(row)) ?? -1))
  }
  return scores
}
