import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { parse } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError } from '../base/errors.ts'
import type { GraphEntry } from './deployment-file.ts'

/** Why one graph of a deployment cannot be loaded. */
export interface LoadFailure {
  graph_id: string
  /** Absolute path of the module at fault where that is known, else of the graph's own. */
  file: string
  /** From 1; null where the reason has no place, as with an export that is missing. */
  line: number | null
  /** One line. */
  reason: string
  /** All of it in one sentence, as the banner, the log, runs and assistants show it. */
  message: string
}

/** Runs and calls of a graph that cannot be loaded fail with this. Trying again loads nothing anew. */
export class GraphLoadError extends AppError {
  constructor({ message }: LoadFailure) {
    super('host_unavailable', { message })
    this.name = 'GraphLoadError'
  }

  override get retryable(): boolean {
    return false
  }
}

interface Place {
  file: string
  line: number | null
}

interface Fault extends Place {
  reason: string
}

/**
 * What was thrown while a graph was loaded, with its place. `files` are the user's modules that have been resolved, in that order:
 * V8 does not say which of them it could not parse.
 */
export function describeLoadFailure(
  entry: Pick<GraphEntry, 'graph_id' | 'file'>,
  thrown: unknown,
  files: readonly string[],
): LoadFailure {
  const { graph_id } = entry
  const { file, line, reason } = faultOf(entry.file, thrown, files)
  const place = line === null ? file : `${file}:${line}`
  return {
    graph_id,
    file,
    line,
    reason,
    message: `Graph "${graph_id}" cannot be loaded: ${place}: ${reason}`,
  }
}

function faultOf(file: string, thrown: unknown, files: readonly string[]): Fault {
  if (!existsSync(file)) return { file, line: null, reason: 'There is no such file.' }
  if (!(thrown instanceof Error))
    return { file, line: null, reason: firstLine(`${String(thrown)} was thrown.`) }
  // Of our own words about what it exports.
  if (thrown instanceof AppError) return { file, line: null, reason: thrown.message }
  const own = { file, line: null, reason: `${thrown.name}: ${firstLine(thrown.message)}` }
  return missingModule(thrown) ?? transformFault(thrown) ?? { ...own, ...placeOf(thrown, [file, ...files]) }
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? ''
}

/** A module that is not there: the place is the line of the module that asks for it. */
function missingModule(error: Error & { code?: unknown; requireStack?: unknown }): Fault | undefined {
  if (error.code !== 'MODULE_NOT_FOUND' && error.code !== 'ERR_MODULE_NOT_FOUND') return undefined
  const [words = '', from] = firstLine(error.message).split(' imported from ')
  const asker = Array.isArray(error.requireStack) ? String(error.requireStack[0]) : from
  if (asker === undefined || !existsSync(asker)) return undefined
  return { file: asker, line: lineNaming(asker, /'([^']+)'/.exec(words)?.[1] ?? ''), reason: `${words}.` }
}

/** The line of a module that imports what is named so, or a file of that name. */
function lineNaming(file: string, name: string): number | null {
  const wanted = [`'${name}'`, `"${name}"`, `/${parse(name).name}`]
  const lines = readFileSync(file, 'utf8').split('\n')
  const at = lines.findIndex((line) => wanted.some((text) => line.includes(text)))
  return at < 0 ? null : at + 1
}

/** What tsx says of TypeScript that it cannot parse: `/path/file.ts:3:10: ERROR: …`. */
function transformFault({ message }: Error): Fault | undefined {
  const found = /^(\/.+?):(\d+):\d+: ERROR: (.*)$/m.exec(message)
  if (found === null) return undefined
  return { file: found[1] ?? '', line: Number(found[2]), reason: `SyntaxError: ${found[3]}` }
}

function placeOf(error: Error, files: readonly string[]): Place | undefined {
  const frames = (error.stack ?? '').split('\n').filter((line) => /^ {4}at /.test(line))
  const ours = frames.map(placeOfFrame).find((place) => place !== undefined && isOfUser(place.file))
  return ours ?? (error instanceof SyntaxError ? placeOfSyntaxError(files) : undefined)
}

function placeOfFrame(line: string): Place | undefined {
  const found = /(?:at |async |\()((?:file:\/\/)?\/[^()]*?):(\d+):\d+\)?$/.exec(line)
  if (found === null) return undefined
  const path = found[1] ?? ''
  return { file: path.startsWith('file:') ? fileURLToPath(path) : path, line: Number(found[2]) }
}

const OWN_FOLDER = fileURLToPath(new URL('.', import.meta.url))

/** Neither of a package nor of Weir, which has called the import. */
function isOfUser(file: string): boolean {
  return !file.includes('/node_modules/') && !file.startsWith(OWN_FOLDER)
}

const JAVASCRIPT = /\.[cm]?js$/
const CHECKED = 20

/** Asks Node of each file, the newest first: its error names the place, what `import` throws does not. */
function placeOfSyntaxError(files: readonly string[]): Place | undefined {
  const candidates = [...new Set(files)].filter((file) => JAVASCRIPT.test(file)).slice(-CHECKED)
  for (const file of candidates.reverse()) {
    const { stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' })
    const found = /^(.+):(\d+)$/m.exec(stderr)
    if (found !== null) return { file, line: Number(found[2]) }
  }
  return undefined
}
