import type { ItemSearch, ItemWrite, StoreItem } from '../../runs/kv-store.ts'
import type { Tenant } from '../../runs/model.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { SqlSession, SqlValue } from './database.ts'
import { matchesFilter } from './kv-filter.ts'
import { cosine, decodeVector } from './kv-vectors.ts'

/** An item as stored; `namespace` and `item` are JSON. */
export interface ItemRow {
  namespace: string
  item_key: string
  created_at: number
  updated_at: number
  ttl_ms: number | null
  item: string
}

interface VectorRow {
  namespace: string
  item_key: string
  path: string
  vector: string
}

/** Columns of an `ItemRow`. */
export const ITEM = 'namespace, item_key, created_at, updated_at, ttl_ms, item'
/** `WHERE` terms of an item, for `itemKey`. */
export const OF_ITEM = 'namespace = ? AND item_key = ? AND deployment_id = ? AND workspace_id = ?'
const OF_PREFIX = 'p.prefix = ? AND p.deployment_id = ? AND p.workspace_id = ?'
/** `WHERE` term of an item `i` that has not expired, for the time now. */
export const IS_THERE = '(i.expires_at IS NULL OR i.expires_at > ?)'
/** Items `i` below a prefix that have not expired: for the prefix's JSON, deployment, workspace, and the time now. */
export const FROM_PREFIX = `FROM store_prefixes p JOIN store_items i ON i.namespace = p.namespace
  AND i.deployment_id = p.deployment_id AND i.workspace_id = p.workspace_id WHERE ${OF_PREFIX} AND ${IS_THERE}`
/** So many items are filtered at a time. */
const PAGE = 500

/** Values for `OF_ITEM`; `namespace` is JSON. */
export function itemKey(tenant: Tenant, namespace: string, key: string): SqlValue[] {
  return [namespace, key, tenant.deployment_id, tenant.workspace_id]
}

function prefixesOf(namespace: readonly string[]): string[] {
  return Array.from({ length: namespace.length + 1 }, (_, depth) => JSON.stringify(namespace.slice(0, depth)))
}

/** The item of a row. */
export function toItem(row: ItemRow): StoreItem {
  return {
    namespace: JSON.parse(row.namespace) as string[],
    key: row.item_key,
    value: JSON.parse(row.item) as JsonObject,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

async function readPrefix(
  session: SqlSession,
  tenant: Tenant,
  prefix: readonly string[],
  now: number,
  page: { limit: number; offset: number },
): Promise<ItemRow[]> {
  const columns = ITEM.replaceAll(/\w+/g, 'i.$&')
  return await session.query<ItemRow>(
    `SELECT ${columns} ${FROM_PREFIX} ORDER BY i.changed DESC, i.item_key LIMIT ? OFFSET ?`,
    [JSON.stringify(prefix), tenant.deployment_id, tenant.workspace_id, now, page.limit, page.offset],
  )
}

/** Items that the search is for, in order of their last change; all of them when `everything`. */
export async function readMatching(
  session: SqlSession,
  tenant: Tenant,
  search: ItemSearch,
  now: number,
  everything: boolean,
): Promise<ItemRow[]> {
  const { namespace_prefix, limit, offset, visible } = search
  const filter = search.filter ?? {}
  const isFiltered = visible !== undefined || Object.keys(filter).length > 0
  const fits = (row: ItemRow): boolean =>
    matchesFilter(JSON.parse(row.item) as JsonObject, filter) && visible?.(toItem(row)) !== false
  if (!isFiltered && !everything)
    return await readPrefix(session, tenant, namespace_prefix, now, { limit, offset })
  const wanted = everything ? Number.POSITIVE_INFINITY : offset + limit
  const found: ItemRow[] = []
  for (let at = 0; found.length < wanted; at += PAGE) {
    const rows = await readPrefix(session, tenant, namespace_prefix, now, { limit: PAGE, offset: at })
    found.push(...rows.filter(fits))
    if (rows.length < PAGE) break
  }
  return everything ? found : found.slice(offset, offset + limit)
}

/** Items by how near they are to the query's meaning; those without vectors come last. */
export async function rank(
  session: SqlSession,
  tenant: Tenant,
  search: ItemSearch,
  rows: readonly ItemRow[],
  wanted: ArrayLike<number>,
): Promise<{ row: ItemRow; score: number | null }[]> {
  const vectors = await session.query<VectorRow>(
    `SELECT v.namespace, v.item_key, v.path, v.vector FROM store_prefixes p JOIN store_vectors v
      ON v.namespace = p.namespace AND v.deployment_id = p.deployment_id AND v.workspace_id = p.workspace_id
      WHERE ${OF_PREFIX}`,
    [JSON.stringify(search.namespace_prefix), tenant.deployment_id, tenant.workspace_id],
  )
  const scores = new Map<string, number>()
  for (const { namespace, item_key, vector } of vectors) {
    const key = JSON.stringify([namespace, item_key])
    const score = cosine(wanted, decodeVector(vector))
    scores.set(key, Math.max(score, scores.get(key) ?? -1))
  }
  return rows
    .map((row) => ({ row, score: scores.get(JSON.stringify([row.namespace, row.item_key])) ?? null }))
    .sort((a, b) => (b.score ?? -2) - (a.score ?? -2))
    .slice(search.offset, search.offset + search.limit)
}

/** Stores an item and makes its namespace known. */
export async function writeItem(
  session: SqlSession,
  tenant: Tenant,
  item: ItemWrite,
  times: { now: number; changed: number; ttl_ms: number | null },
): Promise<void> {
  const { now, changed, ttl_ms } = times
  const namespace = JSON.stringify(item.namespace)
  await session.query(
    `INSERT INTO store_items (namespace, item_key, deployment_id, workspace_id, created_at, updated_at, changed, ttl_ms,
      expires_at, item) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (namespace, item_key, deployment_id, workspace_id) DO UPDATE SET
      created_at = CASE WHEN store_items.expires_at <= excluded.updated_at THEN excluded.created_at
        ELSE store_items.created_at END,
      updated_at = excluded.updated_at, changed = excluded.changed, ttl_ms = excluded.ttl_ms,
      expires_at = excluded.expires_at, item = excluded.item`,
    [
      ...itemKey(tenant, namespace, item.key),
      now,
      now,
      changed,
      ttl_ms,
      ttl_ms === null ? null : now + ttl_ms,
      JSON.stringify(item.value),
    ],
  )
  const prefixes = prefixesOf(item.namespace)
  await session.query(
    `INSERT INTO store_prefixes (prefix, deployment_id, workspace_id, namespace)
      VALUES ${prefixes.map(() => '(?, ?, ?, ?)').join(', ')} ON CONFLICT DO NOTHING`,
    prefixes.flatMap((prefix) => [prefix, tenant.deployment_id, tenant.workspace_id, namespace]),
  )
}

/** Deletes an item, and its namespace when that was the last one. */
export async function removeItem(
  session: SqlSession,
  tenant: Tenant,
  namespace: string,
  key: string,
): Promise<void> {
  for (const table of ['store_items', 'store_vectors']) {
    await session.query(`DELETE FROM ${table} WHERE ${OF_ITEM}`, itemKey(tenant, namespace, key))
  }
  const { deployment_id, workspace_id } = tenant
  const left = await session.query(
    'SELECT 1 AS one FROM store_items WHERE namespace = ? AND deployment_id = ? AND workspace_id = ? LIMIT 1',
    [namespace, deployment_id, workspace_id],
  )
  if (left.length > 0) return
  for (const prefix of prefixesOf(JSON.parse(namespace) as string[])) {
    await session.query(
      'DELETE FROM store_prefixes WHERE prefix = ? AND deployment_id = ? AND workspace_id = ? AND namespace = ?',
      [prefix, deployment_id, workspace_id, namespace],
    )
  }
}
