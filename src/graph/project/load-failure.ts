import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { parse } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { AppError } from '../../base/errors.ts'
import type { GraphEntry } from './deployment-file.ts'

/** Why one graph of a deployment cannot be loaded. */
export interface LoadFailure {
  graph_id: string
  /** Absolute path of the module that failed. If it is not known: the path of the graph's module. */
  file: string
  /** Line number, from 1; null for a reason without a line, such as a missing export. */
  line: number | null
  /** The reason, in one line. */
  reason: string
  /** One sentence with graph, place and reason, for the banner, the log, runs and assistants. */
  message: string
}

/** The error for runs and calls of a graph that cannot be loaded. Its code is graph_not_loaded. */
export class GraphLoadError extends AppError {
  constructor({ message }: Pick<LoadFailure, 'message'>) {
    super('graph_not_loaded', { message })
    this.name = 'GraphLoadError'
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
 * Converts a thrown value to a load failure. `files` are the user's modules in the order in which they were resolved.
 * For a syntax error, the modules are checked one by one, because V8 does not report which one has the error.
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
    return { file, line: null, reason: firstLine(`${inspect(thrown)} was thrown.`) }
  // The error that importExport() throws for a missing export.
  if (thrown instanceof AppError) return { file, line: null, reason: firstLine(thrown.message) }
  const own = { file, line: null, reason: `${thrown.name}: ${firstLine(thrown.message)}` }
  return (
    missingModule(thrown) ?? transformFault(thrown) ?? { ...own, ...failurePlace(thrown, [file, ...files]) }
  )
}

/** Maximum characters of a reason. */
const MAX_REASON = 2_000

function firstLine(text: string): string {
  return text.slice(0, MAX_REASON).split('\n')[0] ?? ''
}

/** The fault for a missing module. Its place is the line of the import. */
function missingModule(error: Error & { code?: unknown; requireStack?: unknown }): Fault | undefined {
  if (error.code !== 'MODULE_NOT_FOUND' && error.code !== 'ERR_MODULE_NOT_FOUND') return undefined
  const [words = '', from] = firstLine(error.message).split(' imported from ')
  const asker = Array.isArray(error.requireStack) ? String(error.requireStack[0]) : from
  if (asker === undefined || !existsSync(asker)) return undefined
  return { file: asker, line: lineNaming(asker, /'([^']+)'/.exec(words)?.[1] ?? ''), reason: `${words}.` }
}

/**
 * The number of the first line in `file` that contains the import specifier `name`, or a path to a file of that name.
 */
function lineNaming(file: string, name: string): number | null {
  const wanted = [`'${name}'`, `"${name}"`, `/${parse(name).name}`]
  const lines = readFileSync(file, 'utf8').split('\n')
  const at = lines.findIndex((line) => wanted.some((text) => line.includes(text)))
  return at < 0 ? null : at + 1
}

/** Parses the message of tsx about a syntax error in TypeScript: `/path/file.ts:3:10: ERROR: …`. */
function transformFault({ message }: Error): Fault | undefined {
  const found = /^(\/.+?):(\d+):\d+: ERROR: (.*)$/m.exec(message)
  if (found === null) return undefined
  return { file: found[1] ?? '', line: Number(found[2]), reason: `SyntaxError: ${found[3]}` }
}

function failurePlace(error: Error, files: readonly string[]): Place | undefined {
  const frames = (error.stack ?? '').split('\n').filter((line) => /^ {4}at /.test(line))
  const ours = frames.map(placeOfFrame).find((place) => place !== undefined && isOfUser(place.file))
  return ours ?? (error instanceof SyntaxError ? placeOfSyntaxError(files) : undefined)
}

/** `file:line` of the innermost frame of an error that is in the user's own code; undefined when there is none. */
export function placeInUserCode(thrown: unknown): string | undefined {
  const place =
    thrown instanceof Error && !(thrown instanceof SyntaxError) ? failurePlace(thrown, []) : undefined
  return place && `${place.file}:${place.line}`
}

function placeOfFrame(line: string): Place | undefined {
  const found = /(?:at |async |\()((?:file:\/\/)?\/[^()]*?):(\d+):\d+\)?$/.exec(line)
  if (found === null) return undefined
  const path = found[1] ?? ''
  return { file: path.startsWith('file:') ? fileURLToPath(path) : path, line: Number(found[2]) }
}

const OWN_FOLDER = fileURLToPath(new URL('../', import.meta.url))

/** False for files of packages and of Weir. */
function isOfUser(file: string): boolean {
  return !file.includes('/node_modules/') && !file.startsWith(OWN_FOLDER)
}

const JAVASCRIPT = /\.[cm]?js$/
const CHECKED = 20

/**
 * Runs `node --check` on each file, the last resolved first. In contrast to the error of `import`, its output names the
 * line.
 */
function placeOfSyntaxError(files: readonly string[]): Place | undefined {
  const candidates = [...new Set(files)].filter((file) => JAVASCRIPT.test(file)).slice(-CHECKED)
  for (const file of candidates.reverse()) {
    const { stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' })
    const found = /^(.+):(\d+)$/m.exec(stderr)
    if (found !== null) return { file, line: Number(found[2]) }
  }
  return undefined
}
