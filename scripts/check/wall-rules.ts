import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

interface Dependency {
  resolved: string
  dependencyTypes: string[]
}

/** The output of dependency-cruiser, with the fields that are used here. */
export interface Cruise {
  modules: { source: string; dependencies: Dependency[] }[]
  summary: { violations: { from: string; to: string; rule: { name: string } }[] }
}

/** Runs dependency-cruiser on src, processors and ui with the rules of .dependency-cruiser.cjs. */
export function cruiseSources(): Cruise {
  const folders = ['src', 'processors', 'ui'].filter(
    (folder) => globSync(`${folder}/**/*.{ts,tsx}`, { cwd: ROOT }).length > 0,
  )
  const bin = 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs'
  const args = [bin, ...folders, '--config', '.dependency-cruiser.cjs', '--output-type', 'json']
  const done = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 28 })
  if (!done.stdout.startsWith('{'))
    throw new Error(`dependency-cruiser failed:\n${done.stderr}${done.stdout}`)
  return JSON.parse(done.stdout) as Cruise
}

/**
 * Source files that dependency-cruiser did not read. It skips a file that it cannot parse, and the file would pass
 * unchecked.
 */
export function unseenFiles(cruise: Cruise): string[] {
  const seen = new Set(cruise.modules.map((module) => module.source))
  const files = globSync(['src/**/*.ts', 'processors/**/*.ts', 'ui/**/*.{ts,tsx}'], { cwd: ROOT })
  return files.filter((file) => !/\.(?:test|d)\.ts$/.test(file) && !seen.has(file))
}

/** The room of a file. Undefined for `start`, which may import every room and is not drawn. */
function roomOf(path: string): string | undefined {
  const room = /^(?:src\/([\w-]+)\/|(processors)\/)/.exec(path)?.slice(1).find(Boolean)
  return room === 'start' ? undefined : room
}

const ROOMS = /(<!-- rooms -->\n)[\s\S]*?(\n<!-- \/rooms -->)/

/** ARCHITECTURE.md with the current diagram of rooms between `<!-- rooms -->` and `<!-- /rooms -->`. */
export function withDiagram(page: string, cruise: Cruise): string {
  const diagram = roomDiagram(cruise)
  return page.replace(ROOMS, (_, open: string, close: string) => open + diagram + close)
}

/** A mermaid graph of the rooms: solid arrows for imports of values, dotted ones for imports of types only. */
export function roomDiagram(cruise: Cruise): string {
  const arrows = new Map<string, boolean>()
  for (const { source, dependencies } of cruise.modules) {
    for (const { resolved, dependencyTypes } of dependencies) {
      const [from, to] = [roomOf(source), roomOf(resolved)]
      if (from === undefined || to === undefined || from === to) continue
      const byValue = !dependencyTypes.includes('type-only')
      arrows.set(`${from} ${to}`, byValue || arrows.get(`${from} ${to}`) === true)
    }
  }
  const lines = [...arrows]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([pair, byValue]) => {
      const [from, to] = pair.split(' ')
      return `  ${from} ${byValue ? '-->' : '-.->'} ${to}`
    })
  return ['```mermaid', 'graph LR', ...lines, '```'].join('\n')
}
