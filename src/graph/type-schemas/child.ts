import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join, parse } from 'node:path'
import ts from 'typescript'
import { openChannel } from '../pool/channel.ts'
import { openServerSocket } from '../pool/vitals.ts'
import { type FromTypeHost, MAX_SCHEMA_BYTES, type ReadFile, type ToTypeHost } from './messages.ts'

/** Answers one request with schemas read from TypeScript types; the server ends the process. */
export function serveTypeSchemas(): void {
  const channel = openChannel<ToTypeHost, FromTypeHost>(openServerSocket(), ({ head }) => {
    readTypes(head).then(
      ({ text, files }) => channel.send({ type: 'types', files }, [text]),
      (error: unknown) => channel.send({ type: 'failed', message: String(error) }),
    )
  })
}

async function readTypes(asked: ToTypeHost): Promise<{ text: string; files: ReadFile[] }> {
  const files = watchReads()
  addPackages(asked.packages)
  useUncheckedTypescript()
  const { getStaticGraphSchema } = await import('@langchain/langgraph-api/schema')
  const spec = { sourceFile: asked.file, exportSymbol: asked.export }
  const text = JSON.stringify(await getStaticGraphSchema(spec, { mainThread: true }))
  if (Buffer.byteLength(text) > MAX_SCHEMA_BYTES)
    throw new RangeError(`more than ${MAX_SCHEMA_BYTES} bytes of schemas`)
  return { text, files: [...files] }
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
 * Source of a module that the schema parser imports instead of TypeScript. The module omits the type check of all
 * files. The parser uses this check only to print errors, and the check takes more than half of its time.
 */
const UNCHECKED = "export * from 'typescript'; export const getPreEmitDiagnostics = () => []"

function useUncheckedTypescript(): void {
  const url = `${import.meta.url}?typescript`
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const isParser = specifier === 'typescript' && context.parentURL?.includes('/langgraph-api/') === true
      return isParser ? { url, shortCircuit: true } : nextResolve(specifier, context)
    },
    load(asked, context, nextLoad) {
      if (asked !== url) return nextLoad(asked, context)
      return { format: 'module', source: UNCHECKED, shortCircuit: true }
    },
  })
}
