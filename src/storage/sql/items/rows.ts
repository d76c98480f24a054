import type { ItemWrite, StoreItem } from '../../../runs/items/kv-store.ts'
import type { Tenant } from '../../../runs/model.ts'
import { toJsonText } from '../../../schema/raw-json.ts'
import type { SqlSession, SqlValue } from '../driver/database.ts'
import type { Sized } from '../../../base/portions.ts'

/** An item as stored; `namespace` and `item` are JSON. */
export interface ItemRow {
  namespace: string
  item_key: string
  created_at: number
  updated_at: number
  ttl_ms: number | null
  item: string
}

/** Columns of an `ItemRow`. */
export const ITEM = 'namespace, item_key, created_at, updated_at, ttl_ms, item'
/** `WHERE` terms of an item. `itemKey` returns the parameters. */
export const OF_ITEM = 'namespace = ? AND item_key = ? AND deployment_id = ? AND workspace_id = ?'
/** `WHERE` terms of namespaces `p` below a prefix; parameters: the prefix as JSON, deployment, workspace. */
export const OF_PREFIX = 'p.prefix = ? AND p.deployment_id = ? AND p.workspace_id = ?'
/** `WHERE` term of an item `i` that has not expired; parameter: the current time. */
export const IS_THERE = '(i.expires_at IS NULL OR i.expires_at > ?)'

const BYTES = 'octet_length(item) AS bytes'

function sumOf(rows: readonly Sized[]): number {
  return rows.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** The parameters of `OF_ITEM`; `namespace` is JSON. */
export function itemKey(tenant: Tenant, namespace: string, key: string): SqlValue[] {
  return [namespace, key, tenant.deployment_id, tenant.workspace_id]
}

function prefixesOf(namespace: readonly string[]): string[] {
  return Array.from({ length: namespace.length + 1 }, (_, depth) => JSON.stringify(namespace.slice(0, depth)))
}

/** The namespace of a row, as a list of labels. */
export function namespaceOfRow(row: Pick<ItemRow, 'namespace'>): string[] {
  return JSON.parse(row.namespace) as string[]
}

/** The item of a row; its value stays JSON text. */
export function toItem(row: ItemRow): StoreItem {
  return {
    namespace: namespaceOfRow(row),
    key: row.item_key,
    value_json: row.item,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

/** Stores an item and registers its namespace; returns the bytes by which the store has grown. */
export async function writeItem(
  session: SqlSession,
  tenant: Tenant,
  item: ItemWrite,
  times: { now: number; changed: number; ttl_ms: number | null },
): Promise<number> {
  const { now, changed, ttl_ms } = times
  const namespace = JSON.stringify(item.namespace)
  const key = itemKey(tenant, namespace, item.key)
  const before = await session.query<Sized>(`SELECT ${BYTES} FROM store_items WHERE ${OF_ITEM}`, key)
  const after = await session.query<Sized>(
    `INSERT INTO store_items (namespace, item_key, deployment_id, workspace_id, created_at, updated_at, changed, ttl_ms,
      expires_at, item) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (namespace, item_key, deployment_id, workspace_id) DO UPDATE SET
      created_at = CASE WHEN store_items.expires_at <= excluded.updated_at THEN excluded.created_at
        ELSE store_items.created_at END,
      updated_at = excluded.updated_at, changed = excluded.changed, ttl_ms = excluded.ttl_ms,
      expires_at = excluded.expires_at, item = excluded.item RETURNING ${BYTES}`,
    [...key, now, now, changed, ttl_ms, ttl_ms === null ? null : now + ttl_ms, toJsonText(item.value)],
  )
  const prefixes = prefixesOf(item.namespace)
  await session.query(
    `INSERT INTO store_prefixes (prefix, deployment_id, workspace_id, namespace)
      VALUES ${prefixes.map(() => '(?, ?, ?, ?)').join(', ')} ON CONFLICT DO NOTHING`,
    prefixes.flatMap((prefix) => [prefix, tenant.deployment_id, tenant.workspace_id, namespace]),
  )
  return sumOf(after) - sumOf(before)
}

/** Deletes an item, and its namespace if that is empty then; returns the bytes of the item. */
export async function removeItem(
  session: SqlSession,
  tenant: Tenant,
  namespace: string,
  key: string,
): Promise<number> {
  const of = itemKey(tenant, namespace, key)
  const removed = await session.query<Sized>(
    `DELETE FROM store_items WHERE ${OF_ITEM} RETURNING ${BYTES}`,
    of,
  )
  await session.query(`DELETE FROM store_vectors WHERE ${OF_ITEM}`, of)
  const { deployment_id, workspace_id } = tenant
  const left = await session.query(
    'SELECT 1 AS one FROM store_items WHERE namespace = ? AND deployment_id = ? AND workspace_id = ? LIMIT 1',
    [namespace, deployment_id, workspace_id],
  )
  if (left.length > 0) return sumOf(removed)
  for (const prefix of prefixesOf(JSON.parse(namespace) as string[])) {
    await session.query(
      'DELETE FROM store_prefixes WHERE prefix = ? AND deployment_id = ? AND workspace_id = ? AND namespace = ?',
      [prefix, deployment_id, workspace_id, namespace],
    )
  }
  return sumOf(removed)
}
