import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject } from '../../schema/json.ts'
import type { LocalProject } from './project.ts'

type Project = Pick<LocalProject, 'dir' | 'graphs' | 'dependencies'>

/** A version of LangGraph that a file of the project asks for. */
interface Asked {
  file: string
  version: string
}

/** Errors for versions of LangGraph that are too old for graphs (P-28), as far as the files of the project name them. */
export async function langgraphErrors(project: Project): Promise<string[]> {
  const has = (wanted: string): boolean => project.graphs.some(({ language }) => language === wanted)
  const found = [
    ...(has('javascript') ? [await javascriptError(project.dir)] : []),
    ...(has('python') ? [await pythonError(project)] : []),
  ]
  return found.filter((error) => error !== undefined)
}

const PACKAGE = '@langchain/langgraph'
/** Versions and ranges that have nothing from 0.4 on. */
const BEFORE_0_4 = /^[~^=v]?\s*0\.[0-3](\.[\dx*][^\s|]*)?$/
const ADD: Readonly<Record<string, string>> = { 'pnpm-lock.yaml': 'pnpm add', 'yarn.lock': 'yarn add' }

async function javascriptError(dir: string): Promise<string | undefined> {
  const asked = (await lockedVersion(dir)) ?? (await manifestRange(dir))
  if (asked === undefined || !BEFORE_0_4.test(asked.version)) return undefined
  let add = 'npm install'
  for (const [file, command] of Object.entries(ADD))
    if ((await read(join(dir, file))) !== undefined) add = command
  return `${asked.file} has LangGraph ${asked.version}, and graphs need 0.4 or newer: ${add} ${PACKAGE}@latest @langchain/core@latest`
}

async function lockedVersion(dir: string): Promise<Asked | undefined> {
  const file = 'package-lock.json'
  const version = member(await readJson(join(dir, file)), 'packages', `node_modules/${PACKAGE}`, 'version')
  return typeof version === 'string' ? { file, version } : undefined
}

async function manifestRange(dir: string): Promise<Asked | undefined> {
  const file = 'package.json'
  const version = member(await readJson(join(dir, file)), 'dependencies', PACKAGE)
  return typeof version === 'string' ? { file, version: version.trim() } : undefined
}

const WANTED = '"langgraph>=1,<2"'
const LOCKED = /^name = "langgraph"\nversion = "([^"]+)"/m
/** `langgraph` in a list of requirements, or as a key of Poetry. */
const REQUIRED = [
  /(?:^\s*|["'])langgraph(?:\[[^\]]*\])?\s*([=<>~!][^"';#\n]*)/gm,
  /^\s*langgraph\s*=\s*(?:\{[^}\n]*version\s*=\s*)?["']([^"']+)["']/gm,
]
/** One of the conditions of a requirement that no version from 1 on meets. */
const BEFORE_1 = /(^|,)\s*((==|~=|===|\^|~)?\s*0(\.|$)|<=?\s*0\.|<\s*1(\.0)*\s*(,|$))/

async function pythonError({ dir, dependencies }: Project): Promise<string | undefined> {
  const locked = LOCKED.exec((await read(join(dir, 'uv.lock'))) ?? '')?.[1]
  if (locked !== undefined)
    return locked.startsWith('0.')
      ? `uv.lock has LangGraph ${locked}, and graphs need version 1: uv add ${WANTED}`
      : undefined
  const folders = dependencies.filter((one) => one.startsWith('.'))
  const files = [...new Set(['.', ...folders])].flatMap((folder) =>
    ['pyproject.toml', 'requirements.txt'].map((name) => join(folder, name)),
  )
  const texts = await Promise.all(files.map(async (file) => ({ file, text: await read(join(dir, file)) })))
  const named = { file: 'langgraph.json', text: dependencies.join('\n') }
  const old = [named, ...texts].flatMap(({ file, text = '' }) =>
    REQUIRED.flatMap((pattern) => [...text.matchAll(pattern)])
      .map(([, version = '']) => ({ file, version: version.trim() }))
      .filter(({ version }) => BEFORE_1.test(version)),
  )
  const [first] = old
  if (first === undefined) return undefined
  return `${first.file} asks for LangGraph ${first.version}, and graphs need version 1: write ${WANTED} there.`
}

function member(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce((inner, name) => (isObject(inner) ? inner[name] : undefined), value)
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse((await read(path)) ?? 'null')
  } catch {
    return undefined
  }
}

async function read(path: string): Promise<string | undefined> {
  return await readFile(path, 'utf8').catch(() => undefined)
}
