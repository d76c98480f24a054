import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { syncDirectory } from '../../../base/files/sync-directory.ts'

/**
 * Makes the directory entries in the engine's data folder durable. ClickHouse syncs the files and the folder of a part,
 * but not the folders above it. These contain the name of the part, and the files and folders of tables and databases.
 */
export interface DurableNames {
  /** Called after an insert. Syncs the folders of all tables, since materialized views write to other tables too. */
  syncTables(): Promise<void>
  /** Called after any other change. Syncs the folders of all tables and of metadata. */
  syncAll(): Promise<void>
}

/**
 * Depth of a table's folder below the data folder: `store/abc/<uuid>`. A table's folder contains the folders of its
 * parts.
 */
const TABLE_DEPTH = 3
/** Longer than the resolution of the change times of folders. */
const TICK_MS = 100

/** @param root the engine's data folder */
export function createDurableNames(root: string, sync = syncDirectory): DurableNames {
  /** The change time at which each folder was last synced, by path. */
  const synced = new Map<string, bigint>()
  let tables: readonly string[] = []

  async function syncChanged(folder: string): Promise<void> {
    const { mtimeNs, mtimeMs } = await stat(folder, { bigint: true })
    if (synced.get(folder) === mtimeNs) return
    const now = Date.now()
    await sync(folder)
    // A recent change time is not stored: a further change may get the same time, because times have a limited
    // resolution.
    if (now - Number(mtimeMs) > TICK_MS) synced.set(folder, mtimeNs)
  }

  const syncEach = async (folders: readonly string[]): Promise<void> => {
    await Promise.all(folders.map((folder) => syncChanged(folder).catch(ignoreMissing)))
  }

  return {
    syncTables: () => syncEach(tables),
    async syncAll() {
      const folders = await foldersOf(root, TABLE_DEPTH)
      tables = folders.filter(({ depth }) => depth === TABLE_DEPTH).map(({ path }) => path)
      const found = new Set(folders.map(({ path }) => path))
      for (const path of synced.keys()) if (!found.has(path)) synced.delete(path)
      await syncEach([...found])
    },
  }
}

interface Folder {
  readonly path: string
  readonly depth: number
}

/** The folder and the folders below it; symbolic links are not followed. */
async function foldersOf(path: string, depth: number, at = 0): Promise<Folder[]> {
  const own = { path, depth: at }
  if (at === depth) return [own]
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  const inner = entries.filter((entry) => entry.isDirectory())
  const below = await Promise.all(inner.map(({ name }) => foldersOf(join(path, name), depth, at + 1)))
  return [own, ...below.flat()]
}

/** Ignores the error for a missing folder, because the folder of a dropped table may disappear at any time. */
function ignoreMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}
