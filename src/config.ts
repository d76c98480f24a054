import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { AppError } from './base/errors.ts'
import type { LogLevel } from './base/log.ts'
import { isLoopback } from './base/loopback.ts'
import { findMisspelt, type MisspeltName } from './misspelt-names.ts'
import { createRegistry } from './schema/registry.ts'
import type { SchemaTypes } from './schema/types.gen.ts'

/** One variable as it is in effect: `value` is masked where it is a secret. */
export interface EffectiveSetting {
  readonly name: string
  readonly value: string
  readonly source: 'env' | 'default'
}

/** A setting that is a port to listen on. */
export type PortSetting = 'PORT' | 'DEPLOYMENT_PORT'

/** The whole configuration, frozen; docs/configuration.md says what each variable means. */
export interface Config {
  readonly host: string
  readonly port: number
  readonly deploymentPort: number
  /** Settings of ports that the environment names; the others' defaults give way to whoever has them (D-55). */
  readonly namedPorts: readonly PortSetting[]
  readonly dataDir: string
  /** Undefined: embedded ClickHouse in `dataDir`. */
  readonly clickhouseUrl: string | undefined
  /** Undefined: SQLite in `dataDir`. */
  readonly databaseUrl: string | undefined
  /** Undefined: events are in the run database. */
  readonly redisUrl: string | undefined
  /** Replicas behind `clickhouseUrl`; undefined: a single server. */
  readonly clickhouseCluster: string | undefined
  readonly bootstrapApiKey: string | undefined
  /** False only on a loopback host. */
  readonly auth: boolean
  /** Where browsers reach the platform API; undefined: at `host` and `port`. */
  readonly publicUrl: string | undefined
  readonly ingestAck: 'log' | 'store'
  readonly ingestLogMaxBytes: number
  /** Less free space than this on the disk of `dataDir` is a fault. */
  readonly diskMinFreeBytes: number
  /** After decompression. */
  readonly ingestMaxBodyBytes: number
  readonly ingestMaxInflightBytes: number
  /** Module paths as written, relative to the working directory. */
  readonly processors: readonly string[]
  /** Undefined: no export. */
  readonly otlpEndpoint: string | undefined
  readonly sqliteSynchronous: 'normal' | 'full'
  /** Event streams that are open at one time. */
  readonly streams: { readonly at_once: number; readonly at_once_per_key: number }
  /** Kept of the logs of all threads together. */
  readonly eventsMaxBytes: number
  /** Whether traces are counted and the usage API answers: both switches are on. */
  readonly granularUsage: boolean
  /** The deployment that is hosted here; undefined: none. */
  readonly hosted: HostedConfig | undefined
  readonly logLevel: LogLevel
  readonly settings: readonly EffectiveSetting[]
  /** Variables of the environment that are most likely meant for Weir and are not read. */
  readonly misspelt: readonly MisspeltName[]
}

/** How the deployment's graphs and runs are served. */
export interface HostedConfig {
  /** Path of its langgraph.json, relative to the working directory. */
  readonly graphs: string
  /** Graphs are loaded anew when their files change. */
  readonly watch: boolean
  /** Undefined: the name of the folder of `graphs`. */
  readonly name: string | undefined
  /** Runs are recorded as traces. */
  readonly tracing: boolean
  readonly concurrency: number
  readonly runTimeoutMs: number
  readonly stallMs: number
  readonly cancelGraceMs: number
  /** Undefined: one is kept in `dataDir`. */
  readonly webhookSecret: string | undefined
  readonly webhooksToPrivateAddresses: boolean
  /** The server's own, of which langgraph.json may name variables and hosts get the least. */
  readonly environment: Environment
}

/** Environment variables by name: `process.env` or a test's own. */
export type Environment = Readonly<Record<string, string | undefined>>

type Settings = SchemaTypes['config']

type SettingValue = string | number | boolean | string[]

interface SettingSchema {
  type: 'string' | 'integer' | 'boolean' | 'array'
  default?: SettingValue
  enum?: string[]
  minimum?: number
  maximum?: number
  'x-unit'?: 'bytes'
  'x-expects'?: string
  'x-secret'?: 'whole' | 'credentials'
  /** The default is a path in what comes with Weir. */
  'x-packaged'?: true
  /** Set to nothing it is off, instead of having its default. */
  'x-empty'?: 'off'
}

/** What comes with Weir: beside the sources, and beside the built program. */
const PACKAGED = new URL('../', import.meta.url)
const SCHEMA_FILE = new URL('schemas/config.schema.json', PACKAGED)
/** Where `weir dev` finds graphs that nobody has named. */
const LOCAL_GRAPHS = 'langgraph.json'
const FLAGS = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])
const SIZE = /^(\d+(?:\.\d+)?)\s*([KMGT])?(i)?B?$/i

function settingSchemas(): [name: string, schema: SettingSchema][] {
  const file = JSON.parse(readFileSync(SCHEMA_FILE, 'utf8')) as { properties: Record<string, SettingSchema> }
  return Object.entries(file.properties)
}

/** `512MiB`, `1.5GB`, `1048576` as bytes; undefined when it is no size. */
function parseSize(text: string): number | undefined {
  const match = SIZE.exec(text)
  if (match === null) return undefined
  const [, digits, prefix, binary] = match
  const power = prefix === undefined ? 0 : 'KMGT'.indexOf(prefix.toUpperCase()) + 1
  return Math.round(Number(digits) * (binary === undefined ? 1000 : 1024) ** power)
}

/** The value in its type; text that does not parse stays text, and the schema refuses it. */
function parseSetting(schema: SettingSchema, text: string): SettingValue {
  if (schema['x-unit'] === 'bytes') return parseSize(text) ?? text
  if (schema.type === 'integer') return /^-?\d+$/.test(text) ? Number(text) : text
  if (schema.type === 'boolean') return FLAGS.get(text.toLowerCase()) ?? text
  if (schema.type === 'array') return text.split(',').map((item) => item.trim())
  return text
}

/** What a variable that is not set comes to. */
function defaultOf(schema: SettingSchema): SettingValue | undefined {
  if (schema['x-packaged'] === undefined) return schema.default
  return fileURLToPath(new URL(String(schema.default), PACKAGED))
}

function expectation(schema: SettingSchema): string {
  if (schema['x-expects'] !== undefined) return schema['x-expects']
  if (schema.enum !== undefined) return `one of ${schema.enum.join(', ')}`
  if (schema['x-unit'] === 'bytes') {
    const upTo = schema.maximum === undefined ? '' : ` and at most ${schema.maximum}`
    return `a size such as 512MiB, at least ${schema.minimum ?? 0}${upTo} bytes`
  }
  if (schema.type === 'integer') return `an integer between ${schema.minimum} and ${schema.maximum}`
  return 'text'
}

function maskCredentials(text: string): string {
  return text.replace(/\/\/[^/@]*@/, '//***@').replace(/([?&]password=)[^&]*/gi, '$1***')
}

function masked(schema: SettingSchema, text: string): string {
  if (schema['x-secret'] === 'whole') return '***'
  return schema['x-secret'] === 'credentials' ? maskCredentials(text) : text
}

function namedPortsOf(effective: readonly EffectiveSetting[]): PortSetting[] {
  const named = (setting: PortSetting): boolean =>
    effective.some(({ name, source }) => name === setting && source === 'env')
  return (['PORT', 'DEPLOYMENT_PORT'] as const).filter(named)
}

/** Rules between variables, on values that are each valid. */
function crossMistakes(settings: Settings, effective: readonly EffectiveSetting[]): string[] {
  const mistakes: string[] = []
  if (settings.AUTH === 'off' && !isLoopback(settings.HOST)) {
    mistakes.push(`AUTH: off is accepted on a loopback HOST only, and HOST is "${settings.HOST}"`)
  }
  const namesBoth = namedPortsOf(effective).length === 2
  if (namesBoth && settings.PORT !== 0 && settings.PORT === settings.DEPLOYMENT_PORT) {
    mistakes.push(`DEPLOYMENT_PORT: must differ from PORT, both are ${settings.PORT}`)
  }
  if (settings.CLICKHOUSE_CLUSTER !== undefined && settings.CLICKHOUSE_URL === undefined) {
    mistakes.push(
      `CLICKHOUSE_CLUSTER: needs CLICKHOUSE_URL, the address of a server of the cluster "${settings.CLICKHOUSE_CLUSTER}"; without it the embedded ClickHouse is used`,
    )
  }
  return mistakes
}

function configError(mistakes: readonly string[]): AppError {
  const message = `The configuration is not valid:\n${mistakes.map((line) => `  ${line}`).join('\n')}`
  return new AppError('config_invalid', { message, details: mistakes })
}

function toHosted(settings: Settings, environment: Environment): HostedConfig | undefined {
  if (settings.GRAPHS === undefined) return undefined
  return Object.freeze({
    graphs: settings.GRAPHS,
    watch: false,
    name: settings.DEPLOYMENT_NAME,
    tracing: settings.RUN_TRACING === 'on',
    concurrency: settings.RUN_CONCURRENCY,
    runTimeoutMs: settings.BG_JOB_TIMEOUT_SECS * 1000,
    stallMs: settings.HOST_STALL_SECONDS * 1000,
    cancelGraceMs: settings.CANCEL_GRACE_SECONDS * 1000,
    webhookSecret: settings.WEBHOOK_SECRET,
    webhooksToPrivateAddresses: settings.WEBHOOK_PRIVATE_ADDRESSES === 'on',
    environment,
  })
}

function toConfig(settings: Settings, effective: EffectiveSetting[], env: Environment): Config {
  return Object.freeze({
    host: settings.HOST,
    port: settings.PORT,
    deploymentPort: settings.DEPLOYMENT_PORT,
    namedPorts: Object.freeze(namedPortsOf(effective)),
    dataDir: settings.DATA_DIR,
    clickhouseUrl: settings.CLICKHOUSE_URL,
    clickhouseCluster: settings.CLICKHOUSE_CLUSTER,
    databaseUrl: settings.DATABASE_URL,
    redisUrl: settings.REDIS_URL,
    bootstrapApiKey: settings.BOOTSTRAP_API_KEY,
    auth: settings.AUTH === 'on',
    publicUrl: settings.PUBLIC_URL,
    ingestAck: settings.INGEST_ACK,
    ingestLogMaxBytes: settings.INGEST_LOG_MAX_BYTES,
    diskMinFreeBytes: settings.DISK_MIN_FREE_BYTES,
    ingestMaxBodyBytes: settings.INGEST_MAX_BODY_BYTES,
    ingestMaxInflightBytes: settings.INGEST_MAX_INFLIGHT_BYTES,
    processors: Object.freeze(settings.PROCESSORS),
    otlpEndpoint: settings.OTEL_EXPORTER_OTLP_ENDPOINT,
    sqliteSynchronous: settings.SQLITE_SYNCHRONOUS,
    streams: Object.freeze({
      at_once: settings.STREAMS_MAX,
      at_once_per_key: settings.STREAMS_MAX_PER_KEY,
    }),
    eventsMaxBytes: settings.EVENTS_MAX_BYTES,
    granularUsage:
      settings.DEFAULT_ORG_FEATURE_ENABLE_GRANULAR_USAGE_REPORTING && settings.GRANULAR_USAGE_TABLE_ENABLED,
    hosted: toHosted(settings, env),
    logLevel: settings.LOG_LEVEL,
    settings: Object.freeze(effective),
    misspelt: findMisspelt(
      env,
      effective.map(({ name }) => name),
    ),
  })
}

/**
 * The configuration that the environment asks for. Throws one AppError `config_invalid` whose message has
 * a line for every mistake (also in `details`), never with a secret in it. Unknown variables are ignored; `misspelt` has those that look like ours.
 */
export function readConfig(env: Environment = process.env): Config {
  const schemas = settingSchemas()
  const values: Record<string, unknown> = {}
  const effective: EffectiveSetting[] = []
  for (const [name, schema] of schemas) {
    const text = env[name]?.trim() ?? ''
    const isOff = text === '' && env[name] !== undefined && schema['x-empty'] === 'off'
    const value = text !== '' ? parseSetting(schema, text) : isOff ? undefined : defaultOf(schema)
    if (value !== undefined) values[name] = value
    const shown = value === undefined ? '' : masked(schema, String(value))
    effective.push(Object.freeze({ name, value: shown, source: text === '' && !isOff ? 'default' : 'env' }))
  }
  const result = createRegistry().check('config', values)
  if (result.ok) {
    const mistakes = crossMistakes(result.value, effective)
    if (mistakes.length > 0) throw configError(mistakes)
    return toConfig(result.value, effective, env)
  }
  const wrong = new Set(result.issues.map((issue) => issue.path.replace(/[.[].*$/s, '')))
  const mistakes = schemas
    .filter(([name]) => wrong.has(name))
    .map(
      ([name, schema]) => `${name}: must be ${expectation(schema)}, got "${masked(schema, env[name] ?? '')}"`,
    )
  throw configError(mistakes)
}

/** What the command line of `weir dev` says, before any environment variable. */
export interface DevFlags {
  graphs?: string | undefined
  /** Of the deployment. */
  port?: string | undefined
}

/**
 * The configuration of `weir dev`, which hosts graphs and loads them anew when they change: those of `flags`, else of
 * GRAPHS, else of the langgraph.json in the working directory, else the example. Throws as `readConfig` does.
 */
export function readDevConfig({ graphs, port }: DevFlags, env: Environment = process.env): Config {
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) <= 65_535)) {
    const message = `--port must be a port up to 65535, or 0 for any free one. It is "${port}".`
    throw new AppError('config_invalid', { message })
  }
  const named = graphs ?? (env['GRAPHS']?.trim() || (existsSync(LOCAL_GRAPHS) ? LOCAL_GRAPHS : undefined))
  const config = readConfig({ ...env, GRAPHS: named, DEPLOYMENT_PORT: port ?? env['DEPLOYMENT_PORT'] })
  return Object.freeze({
    ...config,
    hosted: config.hosted && Object.freeze({ ...config.hosted, watch: true }),
  })
}

/** The values in effect, one aligned line each with its source; secrets are masked. For `weir config`. */
export function describeConfig(config: Config): string {
  const width = Math.max(...config.settings.map(({ name }) => name.length))
  return config.settings
    .map(
      ({ name, value, source }) => `${name.padEnd(width)}  ${value === '' ? '(unset)' : value}  (${source})`,
    )
    .join('\n')
}

/** What the environment tells commands about a server and its key; what it does not name is undefined. */
export interface ClientSettings {
  /** WEIR_URL, of the platform API. */
  url: string | undefined
  /** WEIR_DEPLOYMENT_URL. */
  deploymentUrl: string | undefined
  /** PORT and DEPLOYMENT_PORT, as text; 0 names none. */
  port: string | undefined
  deploymentPort: string | undefined
  /** WEIR_API_KEY. */
  apiKey: string | undefined
  /** DATA_DIR or its default. */
  dataDir: string
}

/** Never throws. */
export function readClientSettings(env: Environment = process.env): ClientSettings {
  const named = (name: string): string | undefined => env[name]?.trim() || undefined
  const port = (name: PortSetting): string | undefined => (named(name) === '0' ? undefined : named(name))
  const dataDir = settingSchemas().find(([name]) => name === 'DATA_DIR')?.[1].default
  return {
    url: named('WEIR_URL'),
    deploymentUrl: named('WEIR_DEPLOYMENT_URL'),
    port: port('PORT'),
    deploymentPort: port('DEPLOYMENT_PORT'),
    apiKey: named('WEIR_API_KEY'),
    dataDir: named('DATA_DIR') ?? String(dataDir),
  }
}
