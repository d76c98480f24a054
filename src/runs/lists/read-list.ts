import { AppError } from '../../base/errors.ts'
import { toVisible } from '../access/rulings.ts'
import { assistantJson } from '../assistants/json.ts'
import type { AssistantStore } from '../assistants/store.ts'
import { noThread } from '../create-runs.ts'
import { cronJson } from '../crons/json.ts'
import type { CronStore } from '../crons/store.ts'
import { itemText } from '../items/item-json.ts'
import type { ItemVisible, KvStore, StoreItem } from '../items/kv-store.ts'
import type { AccessFilter, ListRequest } from './lists.ts'
import type { Tenant } from '../model.ts'
import { toJsonText } from '../../schema/raw-json.ts'
import { pickFields } from './pick-fields.ts'
import { runJson } from '../run-json.ts'
import type { RunStore } from '../run-store.ts'
import { threadText } from '../threads/json.ts'

export interface ListStores {
  store: Pick<RunStore, 'searchThreads' | 'listRuns'>
  assistants: Pick<AssistantStore, 'search' | 'versions'>
  crons: Pick<CronStore, 'search'>
  items: Pick<KvStore, 'search' | 'listNamespaces'>
}

/** A page of a list as text; see `ListPage`. */
export interface ListText {
  body: string
  shown: number
  total: number | null
  more: boolean
  /** Items on the page whose expiry must be extended, because they were read. */
  expiring: Pick<StoreItem, 'namespace' | 'key'>[]
}

type Of<List extends ListRequest['list']> = Extract<ListRequest, { list: List }>

/** Reads a page of a list. @throws AppError not_found */
export async function readList(
  stores: ListStores,
  tenant: Tenant,
  request: ListRequest,
  access: AccessFilter,
): Promise<ListText> {
  switch (request.list) {
    case 'threads':
      return readThreads(stores, tenant, request, access)
    case 'runs':
      return readRuns(stores, tenant, request)
    case 'assistants':
      return readAssistants(stores, tenant, request, access)
    case 'versions':
      return readVersions(stores, tenant, request)
    case 'crons':
      return readCrons(stores, tenant, request, access)
    case 'items':
      return readItems(stores, tenant, request, access)
    case 'namespaces':
      return readNamespaces(stores, tenant, request, access)
  }
}

async function readThreads(
  { store }: ListStores,
  tenant: Tenant,
  { search, select, extract }: Of<'threads'>,
  access: AccessFilter,
): Promise<ListText> {
  const with_values = select.length === 0 || select.includes('values') || extract.some(isOfValues)
  const visible = toVisible(access)
  const { threads, total } = await store.searchThreads(tenant, { ...search, visible, with_values })
  const texts = threads.map((thread) => threadText(thread, { select, extract }))
  return counted(texts, search.offset, total)
}

async function readRuns(
  { store }: ListStores,
  tenant: Tenant,
  { thread_id, page, select }: Of<'runs'>,
): Promise<ListText> {
  const found = await store.listRuns(tenant, thread_id, page)
  if (found === undefined) throw noThread(thread_id ?? '')
  const runs = found.runs.map((run) => runJson(run))
  return uncounted(asTexts(runs, select), found.more)
}

async function readAssistants(
  { assistants }: ListStores,
  tenant: Tenant,
  { search, select, unavailable }: Of<'assistants'>,
  access: AccessFilter,
): Promise<ListText> {
  const found = await assistants.search(tenant, { ...search, visible: toVisible(access) })
  const shown = found.assistants.map((assistant) => assistantJson(assistant, unavailable))
  return counted(asTexts(shown, select), search.offset, found.total)
}

async function readVersions(
  { assistants }: ListStores,
  tenant: Tenant,
  { assistant_id, page, unavailable }: Of<'versions'>,
): Promise<ListText> {
  const found = await assistants.versions(tenant, assistant_id, page)
  if (found === undefined) throw new AppError('not_found', { message: 'Assistant not found' })
  const shown = found.versions.map((version) => assistantJson(version, unavailable))
  return uncounted(asTexts(shown, []), found.more)
}

async function readCrons(
  { crons }: ListStores,
  tenant: Tenant,
  { search, select, now }: Of<'crons'>,
  access: AccessFilter,
): Promise<ListText> {
  const found = await crons.search(tenant, { ...search, visible: toVisible(access) })
  const shown = found.crons.map((cron) => ({ ...cronJson(cron), ...(now !== null && { now }) }))
  return counted(asTexts(shown, select), search.offset, found.total)
}

async function readItems(
  stores: ListStores,
  tenant: Tenant,
  request: Of<'items'>,
  access: AccessFilter,
): Promise<ListText> {
  const search = { ...request.search, visible: itemVisible(access), refresh_ttl: false }
  const { items, more, expiring } = await stores.items.search(tenant, search)
  const page = uncounted(items.map(itemText), more)
  const touched = expiring.map(({ namespace, key }) => ({ namespace, key }))
  return { ...page, body: `{"items":${page.body}}`, expiring: touched }
}

async function readNamespaces(
  { items }: ListStores,
  tenant: Tenant,
  { query }: Of<'namespaces'>,
  access: AccessFilter,
): Promise<ListText> {
  const { limit } = query
  const found = await items.listNamespaces(tenant, {
    ...query,
    limit: limit + 1,
    visible: itemVisible(access),
  })
  const page = uncounted(asTexts(found.slice(0, limit), []), found.length > limit)
  return { ...page, body: `{"namespaces":${page.body}}` }
}

function isOfValues([, [first]]: readonly [string, readonly (string | number)[]]): boolean {
  return first === 'values'
}

function asTexts(records: readonly object[], select: readonly string[]): string[] {
  return records.map((record) => toJsonText(pickFields(record, select)))
}

function uncounted(texts: readonly string[], more: boolean): ListText {
  return { body: `[${texts.join(',')}]`, shown: texts.length, total: null, more, expiring: [] }
}

function counted(texts: readonly string[], offset: number, total: number): ListText {
  return { ...uncounted(texts, offset + texts.length < total), total }
}

/** A condition on items: the filter is matched against the fields of the item's value, its namespace and its key. */
function itemVisible(access: AccessFilter): ItemVisible | undefined {
  const visible = toVisible(access)
  return visible && (({ namespace, key, value }) => visible({ ...value, namespace, key }))
}
