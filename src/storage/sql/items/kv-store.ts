import { type Clock, createExpiryTime } from '../../../base/clock.ts'
import type { FoundItem, ItemWrite, KvStore, NamespaceQuery } from '../../../runs/items/kv-store.ts'
import type { Tenant } from '../../../runs/model.ts'
import { type Quotas, UNLIMITED } from '../../../base/quotas.ts'
import { LARGE_JSON_CHARS, parsedJson, rawLength, toJsonText } from '../../../schema/raw-json.ts'
import type { Database, SqlSession, SqlValue, TxSession } from '../driver/database.ts'
import { readSized } from '../driver/large-values.ts'
import { matchesLabels } from './filter.ts'
import {
  IS_THERE,
  ITEM,
  itemKey,
  type ItemRow,
  OF_ITEM,
  OF_PREFIX,
  removeItem,
  toItem,
  writeItem,
} from './rows.ts'
import { findItems } from './search.ts'
import { encodeVector, type ItemIndex, itemTexts } from './vectors.ts'
import { countUse } from '../workspace-use.ts'

export interface KvStoreOptions {
  /** Minutes; null for items that do not expire. */
  default_ttl: number | null
  /** Whether reading an item extends its lifetime. */
  refresh_on_read: boolean
  /** Undefined for a deployment without semantic search. `query` and `index` are then ignored. */
  index?: ItemIndex | undefined
  /** Default: no quotas. */
  quotas?: Quotas
}

const FOUND = `FROM store_items i WHERE ${OF_ITEM} AND ${IS_THERE}`
const MINUTE_MS = 60_000
/** Number of namespaces that one statement reads. */
const NAMESPACES = 1000

/** The vectors of an item's texts, by path. */
async function embedItem(
  index: ItemIndex | undefined,
  item: ItemWrite,
): Promise<[path: string, vector: string][]> {
  if (index === undefined || item.index === false) return []
  const paths = item.index ?? index.fields
  const isLarge = rawLength(item.value) > LARGE_JSON_CHARS
  const texts =
    index.large !== undefined && isLarge
      ? await index.large.texts(toJsonText(item.value), paths)
      : itemTexts(parsedJson(item.value), paths)
  if (texts.length === 0) return []
  const vectors = await index.embed(texts.map(({ text }) => text))
  return texts.map(({ path }, i) => [path, encodeVector(vectors[i] ?? [])])
}

function compareLabels(a: readonly string[], b: readonly string[]): number {
  for (const [i, label] of a.entries()) {
    const other = b[i]
    if (other === undefined) return 1
    if (label !== other) return label < other ? -1 : 1
  }
  return a.length - b.length
}

function lockOf(tenant: Tenant, namespace: string): string {
  return `store:${tenant.deployment_id}/${tenant.workspace_id}/${namespace}`
}

async function storeVectors(
  session: SqlSession,
  key: readonly SqlValue[],
  vectors: readonly [path: string, vector: string][],
): Promise<void> {
  await session.query(`DELETE FROM store_vectors WHERE ${OF_ITEM}`, key)
  for (const [path, vector] of vectors) {
    await session.query(
      `INSERT INTO store_vectors (namespace, item_key, deployment_id, workspace_id, path, vector)
        VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      [...key, path, vector],
    )
  }
}

function createSweep(database: Database, clock: Clock): KvStore['sweep'] {
  const expiryTime = createExpiryTime(clock)
  const removeExpired = (
    of: Tenant & { namespace: string; item_key: string },
    now: number,
  ): Promise<number> =>
    database.tx(lockOf(of, of.namespace), async (session) => {
      const expired = await session.query(
        `SELECT 1 AS one FROM store_items WHERE ${OF_ITEM} AND expires_at <= ?`,
        [...itemKey(of, of.namespace, of.item_key), now],
      )
      if (expired.length > 0) {
        const bytes = await removeItem(session, of, of.namespace, of.item_key)
        await countUse(session, of, 'store_bytes', -bytes, UNLIMITED)
      }
      return expired.length
    })
  return async (limit) => {
    const now = expiryTime()
    const rows = await database.query<Tenant & { namespace: string; item_key: string }>(
      `SELECT deployment_id, workspace_id, namespace, item_key FROM store_items
        WHERE expires_at IS NOT NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?`,
      [now, limit],
    )
    let count = 0
    for (const row of rows) count += await removeExpired(row, now)
    return count
  }
}

/** Namespaces below a prefix, unsorted, `NAMESPACES` per statement. */
async function* namespacesBelow(
  database: Database,
  tenant: Tenant,
  prefix: readonly string[],
  now: number,
): AsyncGenerator<string[]> {
  let last: string | undefined
  do {
    const rows: { namespace: string }[] = await database.query(
      `SELECT p.namespace FROM store_prefixes p WHERE ${OF_PREFIX} ${last === undefined ? '' : 'AND p.namespace > ?'}
        AND EXISTS (SELECT 1 FROM store_items i WHERE i.namespace = p.namespace AND i.deployment_id = p.deployment_id
          AND i.workspace_id = p.workspace_id AND ${IS_THERE}) ORDER BY p.namespace LIMIT ${NAMESPACES}`,
      [
        JSON.stringify(prefix),
        tenant.deployment_id,
        tenant.workspace_id,
        ...(last === undefined ? [] : [last]),
        now,
      ],
    )
    yield rows.map(({ namespace }) => namespace)
    last = rows.length < NAMESPACES ? undefined : rows.at(-1)?.namespace
  } while (last !== undefined)
}

async function listNamespaces(
  database: Database,
  tenant: Tenant,
  { prefix = [], suffix = [], max_depth, limit, offset, visible }: NamespaceQuery,
  now: number,
): Promise<string[][]> {
  const wild = prefix.indexOf('*')
  const literal = wild === -1 ? prefix : prefix.slice(0, wild)
  const cut = new Map<string, string[]>()
  for await (const texts of namespacesBelow(database, tenant, literal, now)) {
    for (const text of texts) {
      const labels = JSON.parse(text) as string[]
      if (!matchesLabels(labels, prefix, 'prefix') || !matchesLabels(labels, suffix, 'suffix')) continue
      const shown = labels.slice(0, max_depth)
      const name = JSON.stringify(shown)
      if (cut.has(name)) continue
      if (visible === undefined || (await hasVisible(database, tenant, labels, visible, now)))
        cut.set(name, shown)
    }
  }
  return [...cut.values()].sort(compareLabels).slice(offset, offset + limit)
}

/** Whether a namespace directly contains a visible item. */
async function hasVisible(
  database: Database,
  tenant: Tenant,
  namespace: readonly string[],
  visible: NonNullable<NamespaceQuery['visible']>,
  now: number,
): Promise<boolean> {
  const isHere: typeof visible = (item) => item.namespace.length === namespace.length && visible(item)
  const search = { namespace_prefix: [...namespace], limit: 1, offset: 0, visible: isHere }
  return (await findItems(database, tenant, search, now, undefined)).found.length > 0
}

function createReads(
  database: Database,
  clock: Clock,
  { index, refresh_on_read }: KvStoreOptions,
): Pick<KvStore, 'get' | 'search' | 'vectorOf' | 'refresh'> {
  const refresh: KvStore['refresh'] = async (tenant, items) => {
    for (const { namespace, key } of items) {
      await database.query(
        `UPDATE store_items SET expires_at = CAST(? AS BIGINT) + ttl_ms WHERE ${OF_ITEM} AND ttl_ms IS NOT NULL`,
        [clock.now(), ...itemKey(tenant, JSON.stringify(namespace), key)],
      )
    }
  }
  const vectorOf: KvStore['vectorOf'] = async (query) =>
    index === undefined || query === undefined || query === null || query === ''
      ? undefined
      : (await index.embed([query]))[0]
  return {
    refresh,
    vectorOf,
    async get(tenant, namespace, key, refresh_ttl = refresh_on_read) {
      const rows = await readSized<ItemRow>(
        database,
        `SELECT octet_length(item) AS bytes ${FOUND}`,
        `SELECT ${ITEM} ${FOUND}`,
        [...itemKey(tenant, JSON.stringify(namespace), key), clock.now()],
      )
      const [found] = rows.map(toItem)
      if (found !== undefined && refresh_ttl && rows[0]?.ttl_ms !== null) await refresh(tenant, [found])
      return found
    },
    async search(tenant, search) {
      const vector = search.vector ?? (await vectorOf(search.query))
      const { found, more } = await findItems(database, tenant, search, clock.now(), vector)
      const items = found.map(({ row, score }): FoundItem => ({ ...toItem(row), score }))
      const expiring = items.filter((_item, at) => found[at]?.row.ttl_ms !== null)
      if (search.refresh_ttl ?? refresh_on_read) await refresh(tenant, expiring)
      return { items, more, expiring }
    },
  }
}

/** The long-term memory in a run database that has been migrated. */
export function createKvStore(database: Database, clock: Clock, options: KvStoreOptions): KvStore {
  const { index, default_ttl, quotas = UNLIMITED } = options
  let last = 0
  const nextChange = (): number => (last = Math.max(last + 1, clock.now() * 1_000))
  return {
    ...createReads(database, clock, options),
    async put(tenant, item) {
      const namespace = JSON.stringify(item.namespace)
      const ttl = item.ttl === undefined ? default_ttl : item.ttl
      const ttl_ms = ttl === null ? null : Math.round(ttl * MINUTE_MS)
      const vectors = await embedItem(index, item)
      const write = async (session: TxSession): Promise<void> => {
        const times = { now: clock.now(), changed: nextChange(), ttl_ms }
        const grown = await writeItem(session, tenant, item, times)
        if (index !== undefined) await storeVectors(session, itemKey(tenant, namespace, item.key), vectors)
        await countUse(session, tenant, 'store_bytes', grown, quotas)
      }
      await database.tx(lockOf(tenant, namespace), write, rawLength(item.value))
    },
    async remove(tenant, namespace, key) {
      const text = JSON.stringify(namespace)
      await database.tx(lockOf(tenant, text), async (session) => {
        const bytes = await removeItem(session, tenant, text, key)
        await countUse(session, tenant, 'store_bytes', -bytes, quotas)
      })
    },
    listNamespaces: (tenant, query) => listNamespaces(database, tenant, query, clock.now()),
    sweep: createSweep(database, clock),
  }
}
