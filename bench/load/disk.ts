import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Megabytes that ClickHouse's files take on the disk. A file of which several parts have a link counts once. */
export async function clickHouseDisk(dataDir: string): Promise<number> {
  // `du` fails if files disappear meanwhile, after it has printed the sum.
  const du = await run('du', ['-s', '--block-size=1', join(dataDir, 'clickhouse')]).catch(
    (error: { stdout: string }) => error,
  )
  return Math.round(Number(du.stdout.split('\t')[0]) / 1e6)
}
