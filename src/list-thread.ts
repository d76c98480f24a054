import { workerData } from 'node:worker_threads'
import { systemClock } from './base/clock.ts'
import { type TaskReply, serveTasks } from './ingest/serve-tasks.ts'
import { yieldTo } from './ingest/thread-priority.ts'
import type { AccessFilter, ListRequest } from './runs/lists.ts'
import type { Tenant } from './runs/model.ts'
import { readList } from './runs/read-list.ts'
import { createAssistantStore } from './storage/sql/assistant-store.ts'
import { createCronStore } from './storage/sql/cron-store.ts'
import { createKvStore } from './storage/sql/kv-store.ts'
import { connectRunDatabase } from './storage/sql/open-run-database.ts'
import { createRunStore } from './storage/sql/run-store.ts'
import type { SqlPlace } from './storage/sql/open.ts'
import { type Allowance, meteredDatabase } from './storage/sql/metered-database.ts'

// The composition root of a thread that reads lists of a deployment: it has a connection of its own, which cannot write.

/** What a thread is started with. */
export interface ListThreadData {
  place: SqlPlace
  niceness: number
}

/** What is asked of it: to read a list, and how much it may take. */
export interface ListTask {
  tenant: Tenant
  request: ListRequest
  access: AccessFilter
  /** Beyond either the answer is null: the list is one that takes long. Null: as long as it takes. */
  allowance: Allowance | null
}

const { place, niceness } = workerData as ListThreadData
yieldTo(niceness)
const meter = meteredDatabase(connectRunDatabase({ ...place, readOnly: true, connections: 1 }))
const { database } = meter
const stores = {
  store: createRunStore(database, systemClock),
  assistants: createAssistantStore(database, systemClock),
  crons: createCronStore(database, systemClock),
  items: createKvStore(database, systemClock, { default_ttl: null, refresh_on_read: false }),
}

async function read({ tenant, request, access, allowance }: ListTask): Promise<TaskReply> {
  const page = await meter.within(allowance, () => readList(stores, tenant, request, access))
  if (page === null) return { value: null }
  const body = new TextEncoder().encode(page.body)
  return { value: { ...page, body }, transfer: [body.buffer] }
}

serveTasks({ read: (input) => read(input as ListTask) })
