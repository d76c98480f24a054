import { posix } from 'node:path'

/** A source file: its path from the root of the project, and its text. */
export interface SourceFile {
  path: string
  text: string
}

/** Maximum number of files in a folder. */
export const MAX_FILES = 15
/** Maximum number of files with one prefix; more should be a folder. */
const MAX_PREFIX = 2

const EXPORTED =
  /^export (?:declare |abstract |async )*(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm

/**
 * The room of a file: `src/runs/streams/tail.ts` is in the room `runs`. Files directly in `src` are in no room. `ui`
 * has no rooms, so each of its files counts as a room.
 */
function roomOf(path: string): string | undefined {
  if (path.startsWith('ui/')) return path
  return /^(?:src\/([\w-]+)\/|(processors)\/)/.exec(path)?.slice(1).find(Boolean)
}

/**
 * Names that two rooms (in `ui`: two files) both declare and export, unless they are listed in `same`. A re-exported
 * name is not a declaration.
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

/**
 * Folders with too many files, and folders with three files of one prefix, unless the prefix is listed in `prefixed`.
 */
export function findCrowdedFolders(paths: readonly string[], prefixed: ReadonlySet<string>): string[] {
  const folders = Map.groupBy(paths, (path) => path.slice(0, path.lastIndexOf('/')))
  return [...folders].flatMap(([folder, inside]) => {
    const crowd =
      inside.length > MAX_FILES
        ? [`${folder} has ${inside.length} files, at most ${MAX_FILES} are read together`]
        : []
    // `dialog.tsx` and `dialog.module.css` count as one name.
    const names = new Set(inside.map((path) => path.slice(folder.length + 1).replace(/\..*$/, '')))
    const prefixes = Map.groupBy(names, (name) => name.split(/[-_]/, 1)[0] ?? name)
    const missing = [...prefixes]
      .map(([prefix, found]) => ({ path: `${folder}/${prefix}`, count: found.length }))
      .filter(({ path, count }) => count > MAX_PREFIX && !prefixed.has(path))
    return [
      ...crowd,
      ...missing.map(({ path, count }) => `${count} files begin with ${path}: make it a folder`),
    ]
  })
}

/** Paths of the walks in ARCHITECTURE.md that are not files, and walks with more files than stated. */
export function findWalkFaults(page: string, files: ReadonlySet<string>): string[] {
  const section = /^## Five walks\n(.*?)^## /ms.exec(page)?.[1] ?? ''
  const walks = [...section.matchAll(/^\*\*(.+?)\*\* \(at most (\d+)(.*)$/gm)]
  if (walks.length !== 5) return [`ARCHITECTURE.md has ${walks.length} walks, not 5`]
  return walks.flatMap(([, name, most, text = '']) => {
    const paths = [...text.matchAll(/`([\w/-]+\.ts)`/g)].map(([, path]) => `src/${path}`)
    const missing = paths.filter((path) => !files.has(path))
    return [
      ...missing.map((path) => `ARCHITECTURE.md, ${name}: there is no ${path}`),
      ...(paths.length > Number(most) ? [`ARCHITECTURE.md, ${name}: ${paths.length} files`] : []),
    ]
  })
}

/** Files that the table "Where does X go?" names and that do not exist; a row names some below a folder of the row. */
export function findLostPlaces(page: string, files: ReadonlySet<string>): string[] {
  const [, table = ''] = /^## Where does X go\?\n(.*)/ms.exec(page) ?? []
  const known = [...files].map((path) => `/${path}`)
  const named = new Set([...table.matchAll(/`([\w-]+\/[\w./-]+\.ts)`/g)].map(([, path = '']) => path))
  return [...named]
    .filter((path) => !known.some((file) => file.endsWith(`/${path}`)))
    .map((path) => `ARCHITECTURE.md, Where does X go?: there is no ${path}`)
}

/**
 * Minimum number of lines of a file. A shorter file belongs into the file that imports it, if only that one imports it
 * and both are in one folder.
 */
const MIN_LINES = 25
const IMPORTED = /(?:from|import)\s*\(?'(\.[^']+)'/g

/**
 * Short files that only one file of the same folder imports, unless they are listed in `apart`. A file that another
 * folder imports is not reported, because the walls between rooms may require a separate file.
 */
export function findSmallFiles(files: readonly SourceFile[], apart: ReadonlySet<string>): string[] {
  const importers = new Map<string, Set<string>>()
  for (const { path, text } of files)
    for (const [, target = ''] of text.matchAll(IMPORTED)) {
      const imported = posix.join(posix.dirname(path), target)
      importers.set(imported, (importers.get(imported) ?? new Set()).add(path))
    }
  return files.flatMap(({ path, text }) => {
    const [importer, ...others] = importers.get(path) ?? []
    const isSmall = text.trimEnd().split('\n').length < MIN_LINES
    const isAlone = importer !== undefined && others.length === 0
    if (!isSmall || !isAlone || posix.dirname(importer) !== posix.dirname(path) || apart.has(path)) return []
    return [`${path} has fewer than ${MIN_LINES} lines and is imported by ${importer} alone: put it there`]
  })
}

/** The title of a test or of a group of tests: a text that a function follows. */
const TITLE = /\(\s*(['"`])((?:(?!\1).)*)\1,\s*(?:async\s*)?(?:\(|\w+\s*=>)/g
/** A title in the table of `it.each`. It begins with the number of a rule. */
const TITLE_IN_TABLE = /(['"`])((?:[A-Z]+-\d+|N\d+)[,:] (?:(?!\1).)*)\1,/g
const RULE = /(?<![\w-])([A-Z]+-|N)(\d+)(?: to (?:[A-Z]+-|N)(\d+))?(?!\w)/g

/** The numbers of rules that a text cites. `S-17 to S-19` stands for three rules. */
function rulesIn(text: string): string[] {
  return [...text.matchAll(RULE)].flatMap(([, list = '', first = '', last = first]) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => `${list}${Number(first) + i}`),
  )
}

/** The numbers of rules that titles of tests cite. */
export function citedRules(tests: readonly string[]): Set<string> {
  const titles = tests.flatMap((text) => [...text.matchAll(TITLE), ...text.matchAll(TITLE_IN_TABLE)])
  return new Set(titles.flatMap(([, , title = '']) => rulesIn(title)))
}

/** Rows of a table or points of a list that begin with the number of a rule, or with several. */
const RULE_LINE = /^(?:\| |- \*\*)((?:(?:[A-Z]+-|N)\d+(?:, | to )?)+)(?: \||\*\*)/gm

/** Rules of a page that no title of a test cites. */
export function findUncitedRules(
  page: string,
  cited: ReadonlySet<string>,
  other: ReadonlySet<string>,
): string[] {
  const numbers = [...page.matchAll(RULE_LINE)].flatMap(([, list = '']) => rulesIn(list))
  const missing = [...new Set(numbers)].filter((id) => !cited.has(id) && !other.has(id))
  return missing.map((id) => `no title of a test cites ${id}`)
}
