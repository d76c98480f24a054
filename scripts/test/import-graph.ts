import { dirname, join, normalize } from 'node:path/posix'

/** A text literal that may be a path: with a slash or an ending, and without spaces. */
const LITERAL = /['"`]([\w@.][\w@./-]*[/.][\w./-]+)['"`]/g

/**
 * The files that each file needs, by path from the root: what it imports, and every file or folder of the repository
 * that a text in it names, from its own folder or from the root. So a test of a started process needs what it starts,
 * and a test of a fixture all files of the fixture.
 */
export function readImportGraph(files: ReadonlyMap<string, string>): Map<string, string[]> {
  const folders = new Map<string, string[]>()
  for (const path of files.keys()) {
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
      const inside = folders.get(folder) ?? []
      folders.set(folder, inside)
      inside.push(path)
    }
  }
  const filesAt = (path: string): readonly string[] => {
    const clean = normalize(path).replace(/\/$/, '')
    if (files.has(clean)) return [clean]
    // A folder of a room such as `src` says nothing about what is needed.
    return clean.split('/').length > 2 ? (folders.get(clean) ?? []) : []
  }
  return new Map(
    [...files].map(([path, text]) => {
      const named = [...text.matchAll(LITERAL)].flatMap(([, literal = '']) => [
        ...filesAt(join(dirname(path), literal)),
        ...filesAt(literal),
      ])
      return [path, [...new Set(named)].filter((other) => other !== path)]
    }),
  )
}

/**
 * The number of steps from each file to the nearest changed one: 0 for a changed file, 1 for one that imports it.
 * Files that reach none are missing.
 */
export function distancesTo(
  changed: readonly string[],
  graph: ReadonlyMap<string, readonly string[]>,
): Map<string, number> {
  const users = new Map<string, string[]>()
  for (const [path, needed] of graph)
    for (const other of needed) {
      const list = users.get(other) ?? []
      users.set(other, list)
      list.push(path)
    }
  const distances = new Map(changed.map((path) => [path, 0]))
  let edge = [...changed]
  for (let steps = 1; edge.length > 0; steps += 1) {
    edge = edge.flatMap((path) => users.get(path) ?? []).filter((path) => !distances.has(path))
    for (const path of edge) distances.set(path, steps)
    edge = [...new Set(edge)]
  }
  return distances
}
