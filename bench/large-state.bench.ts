import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  columnBytes,
  type Language,
  openRuns,
  runFileBytes,
  runLarge,
  startWithGraphs,
  textOf,
} from '../test/support/runs/large-state.ts'
import { temporaryDir } from '../test/support/stores/clickhouse/embedded-clickhouse.ts'
import { startPostgres } from '../test/support/stores/sql/postgres.ts'

// What a run with a large state and two steps writes: the bytes of each column, of the files of SQLite, and what the
// processes send to the disk (without Postgres and ClickHouse), as multiples of the state.
//   node scripts/launch.mjs bench/large-state.bench.ts
// Variables: STATE_MB (20), STORES (sqlite,postgres), LANGUAGES (typescript,python).
const { STATE_MB = '20', STORES = 'sqlite,postgres', LANGUAGES = 'typescript,python' } = process.env
const BYTES = Number(STATE_MB) * 1e6

/** Bytes that the server and its children but ClickHouse have sent to the disk, and their CPU time in ms. */
async function usedBy(server: number): Promise<{ written: number; cpu_ms: number }> {
  const used = { written: 0, cpu_ms: 0 }
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
    const fields = stat.replace(/^.*\) /, '').split(' ')
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')
    if (Number(name) !== server && (Number(fields[1]) !== server || /clickhouse/.test(command))) continue
    const io = await readFile(`/proc/${name}/io`, 'utf8').catch(() => '')
    used.written += Number(/^write_bytes: (\d+)$/m.exec(io)?.[1] ?? 0)
    used.cpu_ms += (Number(fields[11]) + Number(fields[12])) * 10
  }
  return used
}

function times(bytes: number): string {
  return `${(bytes / BYTES).toFixed(2)} ×`
}

const data = await temporaryDir()
const postgres = STORES.includes('postgres') ? await startPostgres() : undefined

async function measure(store: string, language: Language, appends: boolean): Promise<void> {
  const home = join(data.dir, `${store}-${language}-${String(appends)}`)
  await mkdir(home, { recursive: true })
  const url = store === 'sqlite' ? undefined : await postgres?.createDatabase()
  const weir = await startWithGraphs(home, language, url)
  await runLarge(weir, 'warm', appends)
  const [files, before] = [await runFileBytes(home), await usedBy(weir.pid)]
  const begun = performance.now()
  const { steps } = await runLarge(weir, textOf(BYTES), appends)
  if (steps !== 2) throw new Error('the run did not do its steps')
  const ms = performance.now() - begun
  const after = await usedBy(weir.pid)
  const database = openRuns(home, url)
  const columns = await columnBytes(database, BYTES / 100)
  await database.close()
  await weir.stop()
  const sum = Object.values(columns).reduce((all, one) => all + one, 0)
  console.log(`${store}, ${language}${appends ? ', each step appends' : ''}`)
  for (const [name, bytes] of Object.entries(columns)) console.log(`  ${name}: ${times(bytes)}`)
  const disk = url === undefined ? `, files ${times((await runFileBytes(home)) - files)}` : ''
  const cpu = `${after.cpu_ms - before.cpu_ms} ms of CPU, ${ms.toFixed(0)} ms`
  console.log(`  columns ${times(sum)}${disk}, processes ${times(after.written - before.written)}, ${cpu}`)
}

for (const store of STORES.split(','))
  for (const language of LANGUAGES.split(','))
    for (const appends of [false, true]) await measure(store, language as Language, appends)
await postgres?.stop()
await data.remove()
