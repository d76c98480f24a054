import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './programs.ts'

/** Variables that only an environment or a Secret may hold. */
export const SECRET_NAME = /password|secret|api_key|token/i

/**
 * Whether an image has an exact version. An image without a tag, with `latest` or with only a major version can change
 * without notice.
 */
export function isPinned(image: string): boolean {
  return /@sha256:[0-9a-f]{64}$/.test(image) || /:(?!latest$)[\w.-]*\d[\w.-]*$/.test(image)
}

/** The instructions of a Dockerfile, without comments. Continued lines are joined. */
function instructions(dockerfile: string): [name: string, rest: string][] {
  const joined = dockerfile.replace(/^\s*#.*\n/gm, '').replace(/\\\n/g, ' ')
  return joined
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => [line.split(/\s+/)[0]?.toUpperCase() ?? '', line.replace(/^\S+\s*/, '')])
}

function copiedPaths(rest: string): string[] {
  if (rest.includes('--from=')) return []
  return rest
    .split(/\s+/)
    .filter((word) => !word.startsWith('--'))
    .slice(0, -1)
}

const IMPORTED = /^(?:import|export)\b[^'"]*?\bfrom '(\.[^']+\.ts)'|^import '(\.[^']+\.ts)'/gm

/** The files of this repository that a file imports when it is loaded, with those that these import. */
function loadedFiles(path: string, found = new Set<string>()): Set<string> {
  if (found.has(path)) return found
  found.add(path)
  const text = readFileSync(join(ROOT, path), 'utf8').replaceAll(/^import type [\s\S]*?from .*$/gm, '')
  for (const [, from, alone] of text.matchAll(IMPORTED))
    loadedFiles(join(path, '..', from ?? alone ?? ''), found)
  return found
}

const BUILD_PROGRAMS = ['scripts/build.ts', 'scripts/generate.ts']

/** Files that the build of the image loads, although .dockerignore or the Dockerfile leaves them out. */
function missingFiles(copied: readonly string[]): string[] {
  const loaded = BUILD_PROGRAMS.flatMap((program) => [...loadedFiles(program)])
  return [...new Set(loaded)].filter(
    (path) => !copied.some((one) => path === one || path.startsWith(`${one}/`)),
  )
}

/** Folders of the files that scripts/build.ts copies into the package, such as the host of Python graphs. */
function assetFolders(): string[] {
  const [, list = ''] =
    /^const ASSETS = \[(.*?)^\]/ms.exec(readFileSync(join(ROOT, 'scripts/build.ts'), 'utf8')) ?? []
  return [...new Set([...list.matchAll(/'([^/']+)\//g)].map(([, folder = '']) => folder))]
}

/** Folders of files that the image would lack, because the Dockerfile or .dockerignore leaves them out. */
function missingFolders(copied: readonly string[]): string[] {
  const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n')
  return assetFolders().filter((folder) => !copied.includes(folder) || ignored.includes(folder))
}

/** The beginnings of the values of labels that the image must have. */
function neededLabels(): Record<string, string> {
  const text = readFileSync(join(ROOT, 'package.json'), 'utf8')
  const { version, license } = JSON.parse(text) as { version: string; license: string }
  return {
    title: '',
    description: '',
    revision: '$REVISION',
    licenses: `${license}"`,
    version: `${version}"`,
  }
}

/** Problems of a Dockerfile whose paths begin at the root of the project. */
export function dockerfileProblems(text: string): string[] {
  const problems: string[] = []
  const all = instructions(text)
  const stages = new Set(
    all.flatMap(([name, rest]) => (name === 'FROM' ? (/\sAS\s+(\S+)/i.exec(rest)?.[1] ?? []) : [])),
  )
  for (const [name, rest] of all) {
    const image = rest.split(/\s+/)[0] ?? ''
    if (name === 'FROM' && !stages.has(image) && !isPinned(image))
      problems.push(`FROM ${image} is not pinned`)
    if (name === 'ADD') problems.push('use COPY, not ADD')
    if (/^(CMD|ENTRYPOINT)$/.test(name) && !rest.startsWith('['))
      problems.push(`${name} must be a JSON array`)
    if (/^(ENV|ARG)$/.test(name) && SECRET_NAME.test(rest)) problems.push(`${name} holds a secret: ${rest}`)
    if (name !== 'COPY') continue
    for (const path of copiedPaths(rest)) {
      if (!existsSync(join(ROOT, path))) problems.push(`COPY of ${path}, which does not exist`)
    }
  }
  const copied = all.flatMap(([name, rest]) => (name === 'COPY' ? copiedPaths(rest) : []))
  for (const path of missingFiles(copied)) problems.push(`the build loads ${path}, which it does not have`)
  for (const folder of missingFolders(copied)) problems.push(`the image lacks the files of ${folder}`)
  const labels = all.flatMap(([name, rest]) => (name === 'LABEL' ? [rest] : [])).join(' ')
  for (const [label, value] of Object.entries(neededLabels()))
    if (!labels.includes(`org.opencontainers.image.${label}="${value}`))
      problems.push(`the label ${label} is not "${value}"`)
  const lastFrom = all.findLastIndex(([name]) => name === 'FROM')
  const final = all.slice(lastFrom).map(([name]) => name)
  for (const needed of ['USER', 'HEALTHCHECK', 'CMD', 'VOLUME']) {
    if (!final.includes(needed)) problems.push(`the last stage has no ${needed}`)
  }
  return problems.map((problem) => `Dockerfile: ${problem}`)
}
