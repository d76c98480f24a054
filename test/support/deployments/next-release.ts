import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const COPIED = ['src', 'schemas', 'hosts', 'processors', 'package.json']
const LINKED = ['node_modules', 'bin', 'ui']

/** Migrations of the next release. They only add tables, columns and indexes, as migrations should (ADR 0054). */
const MIGRATIONS = {
  'src/storage/sql/migrations': [
    'CREATE TABLE next_release (id TEXT NOT NULL PRIMARY KEY)',
    'ALTER TABLE api_keys ADD COLUMN next_release TEXT',
  ],
  'src/storage/sql/run-migrations': [
    'CREATE TABLE next_release_runs (id TEXT NOT NULL PRIMARY KEY)',
    'ALTER TABLE runs ADD COLUMN next_release TEXT',
    'CREATE INDEX runs_next_release ON runs (next_release)',
  ],
  'src/storage/clickhouse/migrations': [
    "ALTER TABLE runs ADD COLUMN IF NOT EXISTS next_release String DEFAULT ''",
  ],
}

/** A release that comes after this checkout. */
export interface NextRelease {
  /** The program of that release. */
  readonly main: string
  remove(): Promise<void>
}

/**
 * Copies this checkout as the next release: with a higher version, a higher version of runs, and one more migration of
 * each database. Without the history of the repository there is no earlier release to test against.
 */
export async function makeNextRelease(): Promise<NextRelease> {
  const dir = await mkdtemp(join(tmpdir(), 'weir-next-'))
  await Promise.all(COPIED.map((name) => cp(join(ROOT, name), join(dir, name), { recursive: true })))
  await Promise.all(LINKED.map((name) => symlink(join(ROOT, name), join(dir, name))))
  for (const [folder, statements] of Object.entries(MIGRATIONS)) {
    const last = (await readdir(join(dir, folder)))
      .filter((name) => name.endsWith('.sql'))
      .toSorted()
      .at(-1)
    const number = String(Number(last?.slice(0, 4)) + 1).padStart(4, '0')
    await writeFile(join(dir, folder, `${number}_next_release.sql`), `${statements.join(';\n\n')};\n`)
  }
  await change(
    join(dir, 'src/runs/state.ts'),
    /RUN_VERSION = (\d+)/,
    (version) => `RUN_VERSION = ${version + 1}`,
  )
  await change(join(dir, 'package.json'), /"version": "(\d+)/, (major) => `"version": "${major + 1}`)
  return { main: join(dir, 'src/main.ts'), remove: () => rm(dir, { recursive: true, force: true }) }
}

async function change(file: string, pattern: RegExp, next: (found: number) => string): Promise<void> {
  const text = await readFile(file, 'utf8')
  const changed = text.replace(pattern, (_all, found: string) => next(Number(found)))
  if (changed === text) throw new Error(`${file} has no ${pattern}`)
  await writeFile(file, changed)
}
