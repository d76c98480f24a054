import { globSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { isObject } from '../../schema/json.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import type { ApiClient } from '../server/api-client.ts'
import { langgraphErrors } from './langgraph-faults.ts'
import type { PackedSource } from './pack-source.ts'
import type { LocalProject } from './project.ts'

/** Versions of package.json that name packages beside the project, or a list in the root of a workspace. */
const OUTSIDE_VERSION = /^(workspace:|catalog:|(file|link|portal):\.\.)/
const DEPENDENCIES = ['dependencies', 'optionalDependencies', 'devDependencies']
/** A package of a workspace of uv, in pyproject.toml. */
const UV_MEMBER = /^\s*"?([\w.-]+)"?\s*=\s*\{[^}\n]*workspace\s*=\s*true/gm

type Project = Pick<LocalProject, 'dir' | 'config' | 'graphs' | 'dependencies'>

/** What can be known of a project before its source is uploaded, a paragraph each, with what to do. */
export interface SourceFaults {
  /** Reasons why its build must fail. */
  errors: string[]
  warnings: string[]
}

/** Only the folder of langgraph.json is uploaded, so a project cannot need anything outside of it. */
export async function sourceFaults(project: Project): Promise<SourceFaults> {
  const found = [
    { errors: pathErrors(project), warnings: [] },
    await packageFaults(project),
    { errors: await uvErrors(project), warnings: [] },
    await submoduleFaults(project),
    { errors: await langgraphErrors(project), warnings: [] },
  ]
  return {
    errors: found.flatMap(({ errors }) => errors),
    warnings: found.flatMap(({ warnings }) => warnings),
  }
}

/** @throws AppError config_invalid if the project needs uv, and the server cannot build with it */
export async function assertServerBuilds(
  api: ApiClient,
  { graphs, uses_uv }: LocalProject,
  { files }: PackedSource,
): Promise<void> {
  const isPython = graphs.some(({ language }) => language === 'python')
  if (!isPython || !(uses_uv || files.some(({ path }) => path === 'uv.lock'))) return
  const runtimes = await api.json<SchemaTypes['deployment-runtimes']>('/deployments/runtimes')
  const message = runtimes.find(({ in_use }) => in_use)?.uv_fault
  if (typeof message === 'string') throw new AppError('config_invalid', { message })
}

function pathErrors({ dir, config, graphs, dependencies }: Project): string[] {
  const named = [
    ...graphs.flatMap(({ id, path }) => (path === null ? [] : [{ what: `graph "${id}"`, path }])),
    ...dependencies.filter((path) => path.startsWith('.')).map((path) => ({ what: 'a dependency', path })),
  ]
  const outside = named.filter(({ path }) => isOutside(dir, resolve(dir, path)))
  if (outside.length === 0) return []
  const root = commonFolder([dir, ...outside.map(({ path }) => resolve(dir, path))])
  const what = outside.map((one) => `${one.what} (${one.path})`).join(', ')
  return [
    `${config} names what is outside of its folder, and only this folder is uploaded: ${what}. ${moveText(dir, root, config)}`,
  ]
}

/** Packages of a workspace of npm, pnpm or Yarn, whose root is above the project. */
async function packageFaults({ dir, config }: Project): Promise<SourceFaults> {
  const own = await readJson(join(dir, 'package.json'))
  const root = own && (await workspaceRoot(dir))
  if (own === undefined || root?.dir === dir) return { errors: [], warnings: [] }
  const siblings = root === undefined ? new Set<string>() : await packageNames(root)
  const needed = DEPENDENCIES.flatMap((field) => Object.entries(isObject(own[field]) ? own[field] : {}))
  const isOutsideOnly = ([, version]: [string, unknown]): boolean => OUTSIDE_VERSION.test(String(version))
  const shown = (some: [string, unknown][]): string =>
    some.map(([name, version]) => `${name} (${String(version)})`).join(', ')
  const outside = needed.filter(isOutsideOnly)
  const maybe = needed.filter((one) => siblings.has(one[0]) && !isOutsideOnly(one))
  const where = root === undefined ? 'outside of this folder' : `of the workspace in ${root.dir}`
  const move = moveText(dir, root?.dir ?? dirname(dir), config)
  return {
    errors:
      outside.length === 0
        ? []
        : [
            `package.json needs packages ${where}, and only the folder of ${config} is uploaded: ${shown(outside)}. ${move}`,
          ],
    warnings:
      maybe.length === 0
        ? []
        : [
            `Packages ${where} are installed from the registry, and only the folder of ${config} is uploaded: ${shown(maybe)}. If they are not published: ${move}`,
          ],
  }
}

async function uvErrors({ dir, config }: Project): Promise<string[]> {
  const text = await readFile(join(dir, 'pyproject.toml'), 'utf8').catch(() => '')
  if (/^\s*\[tool\.uv\.workspace\]/m.test(text)) return []
  const members = [...text.matchAll(UV_MEMBER)].map(([, name]) => name)
  if (members.length === 0) return []
  const root = await folderAbove(dir, async (folder) => {
    const above = await readFile(join(folder, 'pyproject.toml'), 'utf8').catch(() => '')
    return /^\s*\[tool\.uv\.workspace\]/m.test(above)
  })
  return [
    `pyproject.toml needs packages of a workspace of uv, and only the folder of ${config} is uploaded: ${members.join(', ')}. ${moveText(dir, root ?? dirname(dir), config)}`,
  ]
}

/** Submodules of git that were not cloned; without one that a graph or a dependency is in, the build must fail. */
async function submoduleFaults({ dir, graphs, dependencies }: Project): Promise<SourceFaults> {
  const folders = dependencies.filter((one) => one.startsWith('.'))
  const needed = [...graphs.flatMap(({ path }) => path ?? []), ...folders]
  const faults: SourceFaults = { errors: [], warnings: [] }
  for (const path of await emptySubmodules(dir)) {
    const isNeeded = needed.some((other) => !isOutside(resolve(dir, path), resolve(dir, other)))
    const text = `The git submodule ${path} is empty${isNeeded ? '. Run' : '; if it is needed, run'}: git submodule update --init ${path}`
    faults[isNeeded ? 'errors' : 'warnings'].push(text)
  }
  return faults
}

/** Paths of submodules below `dir` without a file. */
async function emptySubmodules(dir: string): Promise<string[]> {
  const top = await folderAbove(dir, async (folder) => (await readdir(folder)).includes('.git'), true)
  if (top === undefined) return []
  const text = await readFile(join(top, '.gitmodules'), 'utf8').catch(() => '')
  const paths = [...text.matchAll(/^\s*path\s*=\s*(.+?)\s*$/gm)].map(([, path = '']) => join(top, path))
  const empty: string[] = []
  for (const path of paths.filter((one) => !isOutside(dir, one))) {
    const entries = await readdir(path).catch(() => [])
    if (entries.length === 0) empty.push(relative(dir, path))
  }
  return empty
}

interface Workspace {
  dir: string
  /** Patterns of the folders of its packages. */
  patterns: readonly string[]
}

async function workspaceRoot(dir: string): Promise<Workspace | undefined> {
  let patterns: string[] = []
  const root = await folderAbove(
    dir,
    async (folder) => {
      const file = await readJson(join(folder, 'package.json'))
      const sent = isObject(file?.['workspaces']) ? file['workspaces']['packages'] : file?.['workspaces']
      const ofPnpm = await readFile(join(folder, 'pnpm-workspace.yaml'), 'utf8').catch(() => undefined)
      if (!Array.isArray(sent) && ofPnpm === undefined) return false
      const named = Array.isArray(sent)
        ? sent
        : [...(ofPnpm ?? '').matchAll(/^\s*-\s*['"]?([^'"\n]+)/gm)].map(([, one]) => one)
      patterns = named.filter((one): one is string => typeof one === 'string' && !one.startsWith('!'))
      return true
    },
    true,
  )
  return root === undefined ? undefined : { dir: root, patterns }
}

async function packageNames({ dir, patterns }: Workspace): Promise<Set<string>> {
  const files = globSync(
    patterns.map((pattern) => `${pattern}/package.json`),
    { cwd: dir, exclude: (name) => name === 'node_modules' },
  )
  const names = await Promise.all(files.map(async (file) => (await readJson(join(dir, file)))?.['name']))
  return new Set(names.filter((name) => typeof name === 'string'))
}

/** The nearest folder above `dir`, or `dir` itself, that fits; undefined if none does. */
async function folderAbove(
  dir: string,
  fits: (folder: string) => Promise<boolean>,
  withOwn = false,
): Promise<string | undefined> {
  for (let folder = withOwn ? dir : dirname(dir); ; folder = dirname(folder)) {
    if (await fits(folder).catch(() => false)) return folder
    if (folder === dirname(folder)) return undefined
  }
}

async function readJson(path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isOutside(dir: string, path: string): boolean {
  const way = relative(dir, path)
  return way === '..' || way.startsWith(`..${sep}`)
}

function commonFolder(paths: readonly string[]): string {
  let folder = paths[0] ?? sep
  while (paths.some((path) => isOutside(folder, path))) folder = dirname(folder)
  return folder
}

/** How to deploy from the folder that has everything. */
function moveText(dir: string, root: string, config: string): string {
  const place = relative(root, dir)
  return `Put ${config} into ${root}, write its paths from there (such as "./${place}/…"), and run: weir deploy --config ${join(root, config)}`
}
