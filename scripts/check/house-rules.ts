/** A source file: its path from the root of the project, and its text. */
export interface SourceFile {
  path: string
  text: string
}

/** Maximum number of files in a folder, so that they can be read together; tests are not counted. */
export const MAX_FILES = 15
/** More files than this with one prefix should be a folder. */
const MAX_PREFIX = 2

const EXPORTED =
  /^export (?:declare |abstract |async )*(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm

/** `src/runs/streams/tail.ts` is in the room `runs`; files directly in `src` are in none. */
function roomOf(path: string): string | undefined {
  return /^(?:src\/([\w-]+)\/|(processors)\/)/.exec(path)?.slice(1).find(Boolean)
}

/**
 * Names that two rooms declare and export, unless listed in `same`. Re-exporting another file's name is not a
 * declaration.
 */
export function findHomonyms(files: readonly SourceFile[], same: ReadonlySet<string>): string[] {
  const places = new Map<string, Map<string, string>>()
  for (const { path, text } of files) {
    const room = roomOf(path)
    if (room === undefined) continue
    for (const [, name = ''] of text.matchAll(EXPORTED)) {
      const rooms = places.get(name) ?? new Map<string, string>()
      places.set(name, rooms.set(room, path))
    }
  }
  const homonyms = [...places].filter(([name, rooms]) => rooms.size > 1 && !same.has(name))
  return homonyms.map(([name, rooms]) => `${name} is exported by ${[...rooms.values()].join(' and ')}`)
}

/** Folders with too many files, and folders with three files of one prefix, unless listed in `prefixed`. */
export function findCrowdedFolders(paths: readonly string[], prefixed: ReadonlySet<string>): string[] {
  const folders = Map.groupBy(paths, (path) => path.slice(0, path.lastIndexOf('/')))
  return [...folders].flatMap(([folder, inside]) => {
    const crowd =
      inside.length > MAX_FILES
        ? [`${folder} has ${inside.length} files, at most ${MAX_FILES} are read together`]
        : []
    const names = inside.map((path) => path.slice(folder.length + 1).replace(/\.ts$/, ''))
    const prefixes = Map.groupBy(names, (name) => name.split('-', 1)[0] ?? name)
    const missing = [...prefixes]
      .map(([prefix, found]) => ({ path: `${folder}/${prefix}`, count: found.length }))
      .filter(({ path, count }) => count > MAX_PREFIX && !prefixed.has(path))
    return [
      ...crowd,
      ...missing.map(({ path, count }) => `${count} files begin with ${path}: make it a folder`),
    ]
  })
}

/** Paths of the walks in ARCHITECTURE.md that are no files, and walks with more files than they say. */
export function findWalkFaults(page: string, files: ReadonlySet<string>): string[] {
  const section = /^## Four walks\n(.*?)^## /ms.exec(page)?.[1] ?? ''
  const walks = [...section.matchAll(/^\*\*(.+?)\*\* \(at most (\d+)(.*)$/gm)]
  if (walks.length !== 4) return [`ARCHITECTURE.md has ${walks.length} walks, not 4`]
  return walks.flatMap(([, name, most, text = '']) => {
    const paths = [...text.matchAll(/`([\w/-]+\.ts)`/g)].map(([, path]) => `src/${path}`)
    const missing = paths.filter((path) => !files.has(path))
    return [
      ...missing.map((path) => `ARCHITECTURE.md, ${name}: there is no ${path}`),
      ...(paths.length > Number(most) ? [`ARCHITECTURE.md, ${name}: ${paths.length} files`] : []),
    ]
  })
}
