import { workerData } from 'node:worker_threads'
import { systemClock } from '../../base/clock.ts'
import { type TaskReply, serveTasks } from '../../worker-threads/serve-tasks.ts'
import { yieldTo } from '../../worker-threads/thread-priority.ts'
import type { ListTask, ListThreadData } from '../../hosting/threads/lists.ts'
import { readList } from '../../runs/lists/read-list.ts'
import { createAssistantStore } from '../../storage/sql/runs/assistant-store.ts'
import { createCronStore } from '../../storage/sql/runs/cron-store.ts'
import { createKvStore } from '../../storage/sql/items/kv-store.ts'
import { connectRunDatabase } from '../../storage/sql/driver/open-run-database.ts'
import { createRunStore } from '../../storage/sql/runs/run-store.ts'
import { meteredDatabase } from '../../storage/sql/driver/metered-database.ts'

// Composition root of a thread that reads lists of a deployment over a separate read-only connection.

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
