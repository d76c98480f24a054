import { createRequire } from 'node:module'
import { AppError } from './base/errors.ts'
import { systemClock } from './base/clock.ts'
import type { GraphStorage } from './graph/graph-storage.ts'
import { serveHost } from './graph/host-child.ts'
import { loadExport } from './graph/load-graphs.ts'
import type { OpenMessage } from './graph/messages.ts'
import { readStoreIndex } from './graph/store-index.ts'
import { isObject, type JsonObject } from './schema/json.ts'
import { createCheckpointers } from './storage/sql/checkpointer.ts'
import { createGraphStore } from './storage/sql/graph-store.ts'
import { createKvStore, type KvStoreOptions } from './storage/sql/kv-store.ts'
import { connectRunDatabase } from './storage/sql/open-run-database.ts'
import type { SqlPlace } from './storage/sql/open.ts'

// The composition root of a graph host: a child process that the server starts for a deployment. It has nothing of the
// server's environment; what it opens, its first message says.

async function openStorage(message: OpenMessage): Promise<GraphStorage> {
  const database = connectRunDatabase(placeOf(message.storage))
  const checkpointers = createCheckpointers(database)
  const embedding = await embeddingOf(message.store_index)
  const items = createKvStore(database, systemClock, storeOptions(message, embedding))
  return {
    checkpointer: (tenant) => checkpointers.open(tenant, null),
    runCheckpointer: (tenant, lease, ahead) =>
      ahead ? checkpointers.openAhead(tenant, lease) : checkpointers.open(tenant, lease),
    marks: (tenant, scan) => checkpointers.marks(tenant, scan),
    store: (tenant) => createGraphStore(items, tenant),
    embed: embedding?.embed,
    close: () => database.close(),
  }
}

function placeOf(storage: JsonObject): SqlPlace {
  const { url, file, synchronous } = storage
  return {
    url: typeof url === 'string' ? url : undefined,
    file: String(file),
    ...(synchronous === 'full' || synchronous === 'normal' ? { synchronous } : {}),
  }
}

function storeOptions({ store_ttl }: OpenMessage, index: KvStoreOptions['index']): KvStoreOptions {
  const ttl = store_ttl?.['default_ttl']
  return {
    default_ttl: typeof ttl === 'number' ? ttl : null,
    refresh_on_read: store_ttl?.['refresh_on_read'] !== false,
    index,
  }
}

async function embeddingOf(store_index: JsonObject | null): Promise<KvStoreOptions['index']> {
  const index = readStoreIndex(store_index)
  if (index === undefined) return undefined
  const { file, name, fields } = index
  return { embed: toEmbed(await loadExport(file, name), `${file}:${name}`), fields }
}

type Embed = NonNullable<KvStoreOptions['index']>['embed']

/** A function of texts, or LangChain's Embeddings. */
function toEmbed(value: unknown, name: string): Embed {
  if (typeof value === 'function') return async (texts) => value(texts) as ReturnType<Embed>
  if (isObject(value) && 'embedDocuments' in value && typeof value['embedDocuments'] === 'function') {
    const { embedDocuments } = value as unknown as { embedDocuments: Embed }
    return (texts) => embedDocuments.call(value, texts)
  }
  throw new AppError('config_invalid', { message: `${name} is neither a function of texts nor Embeddings.` })
}

const { version } = createRequire(import.meta.url)('@langchain/langgraph/package.json') as { version: string }
serveHost(openStorage, version)
