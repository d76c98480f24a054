import { workerData } from 'node:worker_threads'
import type { StatementThreadData } from '../../hosting/threads/values.ts'
import { serveTasks } from '../../worker-threads/serve-tasks.ts'
import type { StatementTask } from '../../storage/sql/driver/large-values.ts'
import { serveStatements } from '../../storage/sql/driver/serve-statements.ts'

// Composition root of a thread that reads or writes large values of an SQLite database.

const { file, ...options } = (workerData as StatementThreadData).place
const statements = serveStatements(file, options)

serveTasks({ run: async (input) => ({ value: await statements.run(input as StatementTask) }) })
