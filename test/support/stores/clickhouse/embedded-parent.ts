/** A process that starts the embedded engine, prints its address, and waits to be killed. Argument: DATA_DIR. */
import { startTestClickHouse } from './embedded-clickhouse.ts'

const { url, username, password, pid } = await startTestClickHouse(process.argv[2] ?? '')
process.stdout.write(`${JSON.stringify({ url, username, password, pid })}\n`)
setInterval(() => undefined, 60_000)
