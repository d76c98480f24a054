import { existsSync, type FSWatcher, statSync, watch } from 'node:fs'
import { basename, dirname, join } from 'node:path'

export interface FileWatch {
  /** Adds files: absolute paths, which may not exist yet. */
  add(files: Iterable<string>): void
  close(): void
}

export interface FileWatchOptions {
  /** Called after files were written, created, replaced or removed, and have then not changed for SETTLE_MS. */
  changed(files: readonly string[]): void
  /** Called if a folder cannot be watched. Changes in it are then not reported. */
  failed(folder: string, error: unknown): void
}

/**
 * Changes are reported after this time without further ones: an editor writes several times while saving, and a
 * checkout writes many files.
 */
const SETTLE_MS = 100

/**
 * Watches the folders of the files. So a file is still watched after an editor has replaced it by another file of the
 * same name. If a folder does not exist, or is removed, the nearest existing folder above it is watched.
 */
export function watchFiles({ changed, failed }: FileWatchOptions): FileWatch {
  const folders = new Map<string, WatchedFolder>()
  const pending = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  function note(file: string): void {
    pending.add(file)
    clearTimeout(timer)
    timer = setTimeout(() => {
      const files = [...pending]
      pending.clear()
      changed(files)
    }, SETTLE_MS)
  }

  return {
    add(files) {
      for (const file of files) {
        const path = dirname(file)
        const folder = folders.get(path) ?? new WatchedFolder(path, { note, failed })
        folders.set(path, folder)
        folder.names.add(basename(file))
      }
    },
    close() {
      clearTimeout(timer)
      for (const folder of folders.values()) folder.close()
    },
  }
}

interface FolderEvents extends Pick<FileWatchOptions, 'failed'> {
  note(file: string): void
}

class WatchedFolder {
  readonly names = new Set<string>()
  readonly #path: string
  readonly #events: FolderEvents
  #watcher: FSWatcher | undefined
  /** The folder that is watched now: `#path`, or if that does not exist, its nearest ancestor that does. */
  #at: { path: string; inode: number } | undefined

  constructor(path: string, events: FolderEvents) {
    this.#path = path
    this.#events = events
    this.#attach()
  }

  close(): void {
    this.#watcher?.close()
    this.#watcher = undefined
    this.#at = undefined
  }

  #attach(): void {
    this.close()
    const path = nearestFolder(this.#path)
    try {
      const watcher = watch(path, { persistent: false }, (_, name) => this.#noteChange(name))
      watcher.on('error', (error) => this.#events.failed(this.#path, error))
      this.#watcher = watcher
      this.#at = { path, inode: inodeOf(path) }
      // The folder may have appeared or disappeared before the watch was ready, without a report.
      if (nearestFolder(this.#path) !== path) this.#attach()
    } catch (error) {
      // The folder was removed between `nearestFolder` and `watch`.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') this.#attach()
      else this.#events.failed(this.#path, error)
    }
  }

  #noteChange(name: string | null): void {
    const at = this.#at
    const wasThere = at?.path === this.#path
    // If a folder is removed, the last report about it has the folder's own name. Comparing inodes is not enough,
    // because a new folder may get the same inode.
    const isGone = at === undefined || name === basename(at.path)
    const isSame = !isGone && at.path === nearestFolder(this.#path) && at.inode === inodeOf(at.path)
    if (!isSame) this.#attach()
    // If the folder has appeared, disappeared or been replaced, all its files count as changed.
    const isAbout = isSame ? wasThere && (name === null || this.names.has(name)) : true
    if (!isAbout) return
    const files = isSame && name !== null ? [name] : [...this.names]
    for (const file of files) this.#events.note(join(this.#path, file))
  }
}

function nearestFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path))
}

/** The inode of a path; 0 for a missing file. */
function inodeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? 0
}
