import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join, parse } from 'node:path'
import ts from 'typescript'
import { openChannel } from '../pool/channel.ts'
import { openServerSocket } from '../pool/vitals.ts'
import {
  type FromTypeHost,
  MAX_SCHEMA_BYTES,
  type ReadFile,
  type ToTypeHost,
  type TypedGraph,
} from './messages.ts'

/** Answers one request with schemas read from TypeScript types; the server ends the process. */
export function serveTypeSchemas(): void {
  const channel = openChannel<ToTypeHost, FromTypeHost>(openServerSocket(), ({ head }) => {
    readAll(head, (graph, text, files) => channel.send({ type: 'types', graph, files }, [text])).catch(
      (error: unknown) => channel.send({ type: 'failed', message: String(error) }),
    )
  })
}

type Send = (graph: number, text: string, files: ReadFile[]) => void

/**
 * Reads the first graph, and then all others in one program, which costs less than two programs of one graph.
 * @throws when a graph cannot be read, or its schemas are too large
 */
async function readAll({ graphs, packages }: ToTypeHost, send: Send): Promise<void> {
  const reads = watchReads()
  addPackages(packages)
  useParsersTypescript()
  const { getStaticGraphSchema } = await import('@langchain/langgraph-api/schema')

  async function read(chosen: readonly TypedGraph[], first: number): Promise<void> {
    reads.clear()
    const specs = chosen.map(
      ({ file, export: name }, place) => [place, { sourceFile: file, exportSymbol: name }] as const,
    )
    const schemas = await getStaticGraphSchema(Object.fromEntries(specs), { mainThread: true })
    for (const [place] of specs) {
      const text = JSON.stringify(schemas[place])
      if (Buffer.byteLength(text) > MAX_SCHEMA_BYTES)
        throw new RangeError(`more than ${MAX_SCHEMA_BYTES} bytes of schemas`)
      send(first + place, text, [...reads])
    }
  }

  await read(graphs.slice(0, 1), 0)
  if (graphs.length > 1) await read(graphs.slice(1), 1)
}

/**
 * Records the project's files that the compiler reads, and the package.json of LangGraph, which contains its version.
 */
function watchReads(): Map<string, string> {
  const files = new Map<string, string>()
  const read = ts.sys.readFile.bind(ts.sys)
  ts.sys.readFile = (path, encoding) => {
    const content = read(path, encoding)
    if (content !== undefined && countsFor(path)) files.set(path, hashOf(path))
    return content
  }
  return files
}

function countsFor(path: string): boolean {
  return (
    !/[\\/]node_modules[\\/]/.test(path) ||
    /[\\/]@langchain[\\/](core|langgraph)[\\/]package\.json$/.test(path)
  )
}

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

/** Makes the compiler find packages in Weir's installation if the project does not have them, as for graphs. */
function addPackages(folder: string): void {
  const last = join(parse(process.cwd()).root, 'node_modules')
  const { fileExists, directoryExists, readFile, realpath } = ts.sys
  const at = (path: string): string => (path.startsWith(last) ? folder + path.slice(last.length) : path)
  Object.assign(ts.sys, {
    fileExists: (path: string) => fileExists(at(path)),
    directoryExists: (path: string) => directoryExists(at(path)),
    readFile: (path: string, encoding?: string) => readFile(at(path), encoding),
    realpath: (path: string) => realpath?.(at(path)) ?? at(path),
  })
}

/**
 * Source of a module that the schema parser imports instead of TypeScript. It omits the type check of all files, which
 * the parser uses only to print errors and which takes more than half of its time, and parses an unchanged file once.
 */
const PARSERS_TYPESCRIPT = `
import ts from 'typescript'
export * from 'typescript'
export const getPreEmitDiagnostics = () => []
const parsed = new Map()
export function createSourceFile(name, text, ...options) {
  const key = JSON.stringify([name, options])
  const known = parsed.get(key)
  if (known?.text === text) return known
  const file = ts.createSourceFile(name, text, ...options)
  parsed.set(key, file)
  return file
}`

function useParsersTypescript(): void {
  const url = `${import.meta.url}?typescript`
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const isParser = specifier === 'typescript' && context.parentURL?.includes('/langgraph-api/') === true
      return isParser ? { url, shortCircuit: true } : nextResolve(specifier, context)
    },
    load(asked, context, nextLoad) {
      if (asked !== url) return nextLoad(asked, context)
      return { format: 'module', source: PARSERS_TYPESCRIPT, shortCircuit: true }
    },
  })
}
