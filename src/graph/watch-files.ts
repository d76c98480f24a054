import { existsSync, type FSWatcher, statSync, watch } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Files under watch. */
export interface FileWatch {
  /** Watches these as well: absolute paths, of files that are there or are not yet. */
  add(files: Iterable<string>): void
  close(): void
}

/** Who is told, and when. */
export interface FileWatchOptions {
  /** Files were written, made, replaced or removed; told once they have been left alone for a moment. */
  changed(files: readonly string[]): void
  /** A folder cannot be watched: changes in it will not be noticed. */
  failed(folder: string, error: unknown): void
}

/** An editor that saves writes several times, and a checkout writes many files. */
const SETTLE_MS = 100

/**
 * Watches files by their folders, so that a file which an editor replaces by another of its name is still the same file.
 * A folder that goes away, or is not there yet, is waited for in the next one above that is.
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
  /** Of the files that matter. */
  readonly names = new Set<string>()
  readonly #path: string
  readonly #events: FolderEvents
  #watcher: FSWatcher | undefined
  /** What is watched: the folder, or one above it while it is not there. */
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
      const watcher = watch(path, { persistent: false }, (_, name) => this.#hear(name))
      watcher.on('error', (error) => this.#events.failed(this.#path, error))
      this.#watcher = watcher
      this.#at = { path, inode: inodeOf(path) }
      // What came while the watch was set up was not told of.
      if (nearestFolder(this.#path) !== path) this.#attach()
    } catch (error) {
      // It went away between the look and the watch.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') this.#attach()
      else this.#events.failed(this.#path, error)
    }
  }

  #hear(name: string | null): void {
    const at = this.#at
    const wasThere = at?.path === this.#path
    // Of a folder that was removed its own name is told last, and the next one may get its inode.
    const isGone = at === undefined || name === basename(at.path)
    const isSame = !isGone && at.path === nearestFolder(this.#path) && at.inode === inodeOf(at.path)
    if (!isSame) this.#attach()
    // With a folder that came, went or was replaced its files did.
    const isAbout = isSame ? wasThere && (name === null || this.names.has(name)) : true
    if (!isAbout) return
    const files = isSame && name !== null ? [name] : [...this.names]
    for (const file of files) this.#events.note(join(this.#path, file))
  }
}

function nearestFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path))
}

/** 0 for what is not there. */
function inodeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? 0
}
