import { createRequire } from 'node:module'
import { AppError } from '../../base/errors.ts'
import { systemClock } from '../../base/clock.ts'
import type { GraphStorage } from '../../graph/host/storage.ts'
import { serveHost } from '../../graph/host/child.ts'
import { loadExport } from '../../graph/host/load-graphs.ts'
import type { OpenHost } from '../../graph/pool/messages.ts'
import { readStoreIndex } from '../../graph/project/store-index.ts'
import { readStoreTtl } from '../../graph/project/store-ttl.ts'
import { UNLIMITED } from '../../base/quotas.ts'
import { isObject, type JsonObject } from '../../schema/json.ts'
import { connectBroker } from '../../graph/broker/broker-connection.ts'
import { createBrokeredRowStore, createBrokeredStore } from '../../storage/sql/broker/brokered-storage.ts'
import {
  type Checkpointers,
  createCheckpointers,
  createCheckpointersOn,
} from '../../storage/sql/checkpoints/checkpointer.ts'
import { createGraphStore } from '../../storage/sql/items/graph-store.ts'
import { createKvStore, type KvStoreOptions } from '../../storage/sql/items/kv-store.ts'
import { connectRunDatabase } from '../../storage/sql/driver/open-run-database.ts'
import type { SqlPlace } from '../../storage/sql/driver/open.ts'

// The composition root of a graph host: a child process that the server starts for a deployment. It gets no environment
// of the server; its first message contains the options of the storage that it opens.

async function openStorage(message: OpenHost): Promise<GraphStorage> {
  const { broker } = message.storage
  return isObject(broker) ? openBrokered(message, broker) : openDirectly(message)
}

/** Opens the storage of a deployment of the control plane, for which the host has only a socket and a token (P-25). */
async function openBrokered(message: OpenHost, { socket, token }: JsonObject): Promise<GraphStorage> {
  const place = { socket: String(socket), token: String(token) }
  const connection = await connectBroker(place, () => process.exit(1))
  const request = connection.request
  const checkpointers = createCheckpointersOn(createBrokeredRowStore(request))
  const store = createBrokeredStore(request)
  const embedding = await embeddingOf(message.store_index)
  return {
    ...storageOf(checkpointers),
    store: () => store,
    embed: embedding?.embed,
    close: async () => connection.close(),
  }
}

async function openDirectly(message: OpenHost): Promise<GraphStorage> {
  const database = connectRunDatabase(sqlPlace(message.storage))
  const checkpointers = createCheckpointers(database)
  const embedding = await embeddingOf(message.store_index)
  const items = createKvStore(database, systemClock, storeOptions(message, embedding))
  return {
    ...storageOf(checkpointers),
    store: (tenant) => createGraphStore(items, tenant),
    embed: embedding?.embed,
    close: () => database.close(),
  }
}

function storageOf(
  checkpointers: Checkpointers,
): Pick<GraphStorage, 'checkpointer' | 'runCheckpointer' | 'marks'> {
  return {
    checkpointer: (tenant) => checkpointers.open(tenant, null),
    runCheckpointer: (tenant, lease, { ahead, fresh }) =>
      ahead ? checkpointers.openAhead(tenant, lease, fresh) : checkpointers.open(tenant, lease),
    marks: (tenant, scan) => checkpointers.marks(tenant, scan),
  }
}

function sqlPlace(storage: JsonObject): SqlPlace {
  const { url, file, synchronous, connections } = storage
  return {
    url: typeof url === 'string' ? url : undefined,
    file: String(file),
    ...(typeof connections === 'number' && { connections }),
    ...(synchronous === 'full' || synchronous === 'normal' ? { synchronous } : {}),
  }
}

function storeOptions({ store_ttl, storage }: OpenHost, index: KvStoreOptions['index']): KvStoreOptions {
  const most = storage['max_store_bytes']
  return {
    ...readStoreTtl(store_ttl),
    index,
    quotas: { ...UNLIMITED, ...(typeof most === 'number' && { store_bytes: most }) },
  }
}

async function embeddingOf(store_index: JsonObject | null): Promise<KvStoreOptions['index']> {
  const index = readStoreIndex(store_index)
  if (index === undefined) return undefined
  const { embed, fields } = index
  if (!('file' in embed)) return { embed: () => Promise.reject(onlyInPython(embed.model)), fields }
  const { file, name } = embed
  return { embed: toEmbed(await loadExport(file, name), `${file}:${name}`), fields }
}

function onlyInPython(model: string): AppError {
  const message = `"store.index.embed" is "${model}", the name of a model, which only Python graphs can use.`
  return new AppError('invalid_request', { message })
}

type Embed = NonNullable<KvStoreOptions['index']>['embed']

/**
 * Makes the function for embeddings of an exported value, which must be a function of texts or an instance of
 * LangChain's Embeddings.
 */
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
