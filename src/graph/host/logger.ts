import { inspect } from 'node:util'
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons'
import { isDeeperThan } from '../../base/text/json-depth.ts'
import { isObject, type JsonObject } from '../../schema/json.ts'

/** A line that user code logged with `getLogger()` of `@langchain/langgraph-sdk/logging`. */
export interface GraphLogLine {
  level: LogLevel
  text: string
  /** Fields of the line other than the text; null if there are none. */
  fields: JsonObject | null
  /** The node that logged the line; null outside of nodes. */
  node: string | null
}

type LogLevel = 'error' | 'warn' | 'info' | 'debug' | 'trace'

/** Symbol of the global property from which the SDK reads the server's logger. */
const PLACE = Symbol.for('langgraph.api.sdk-logger')

/** Weir's log level for each level of the SDK. */
const LEVELS: Readonly<Record<string, LogLevel>> = {
  error: 'error',
  warn: 'warn',
  help: 'info',
  data: 'info',
  info: 'info',
  prompt: 'info',
  http: 'info',
  input: 'info',
  verbose: 'debug',
  debug: 'debug',
  silly: 'trace',
}

/** Maximum length of a line's text, and of the JSON of its fields. */
const KEPT_CHARS = 4_000
/** Maximum nesting of the fields; the server ends a process whose messages are nested much deeper. */
const MAX_DEPTH = 100

type GraphLogger = Record<string, (message: unknown, ...meta: unknown[]) => GraphLogger>

/** Installs the logger that `getLogger()` returns; it calls `send` with every line. */
export function installGraphLogger(send: (line: GraphLogLine) => void): void {
  const logger: GraphLogger = {}
  for (const [name, level] of Object.entries(LEVELS)) {
    logger[name] = (message, ...meta) => {
      send({ level, ...contentOf(message, meta), node: currentNode() })
      return logger
    }
  }
  Object.defineProperty(globalThis, PLACE, { value: logger, configurable: true })
}

interface ConfigInContext {
  metadata?: Record<string, unknown>
}

/** The name of the node that is executing. It is read from the async context, which all copies of LangGraph share. */
function currentNode(): string | null {
  const config = AsyncLocalStorageProviderSingleton.getRunnableConfig() as ConfigInContext | undefined
  const node = config?.metadata?.['langgraph_node']
  return typeof node === 'string' ? node : null
}

/**
 * The text and the fields of a call. In `({message, …})` the object contains both; in `(text, {…})` the object contains
 * the fields.
 */
function contentOf(message: unknown, meta: readonly unknown[]): Pick<GraphLogLine, 'text' | 'fields'> {
  const fields: Record<string, unknown> = Object.assign({}, ...meta.map(fieldsOf))
  if (message instanceof Error) return bounded(message.message, { stack: message.stack, ...fields })
  if (!isObject(message)) return bounded(message, fields)
  const { message: text = '', ...rest } = message
  return bounded(text, { ...rest, ...fields })
}

function fieldsOf(value: unknown): object {
  if (value instanceof Error) return { error: value.message, stack: value.stack }
  return typeof value === 'object' && value !== null ? value : { value }
}

function bounded(message: unknown, fields: object): Pick<GraphLogLine, 'text' | 'fields'> {
  const text = typeof message === 'string' ? message : inspect(message)
  return {
    text: text.slice(0, KEPT_CHARS),
    fields: Object.keys(fields).length === 0 ? null : boundedFields(fields),
  }
}

/**
 * Returns the fields as JSON of limited length. Values that JSON cannot contain, such as cycles, are converted to text
 * with `util.inspect`.
 */
function boundedFields(fields: object): JsonObject {
  try {
    const text = JSON.stringify(fields)
    const read: unknown =
      text.length <= KEPT_CHARS && !isDeeperThan(MAX_DEPTH, Buffer.from(text)) && JSON.parse(text)
    return isObject(read) ? read : { cut: text.slice(0, KEPT_CHARS) }
  } catch {
    return { cut: inspect(fields).slice(0, KEPT_CHARS) }
  }
}
