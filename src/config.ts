// Settings from environment variables. Their names, defaults and texts are in schemas/config.schema.json.
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseSize, sizeText } from './base/text/byte-size.ts'
import { AppError } from './base/errors.ts'
import type { LogLevel } from './base/log.ts'
import { isLoopback } from './base/loopback.ts'
import { findMisspelt, type MisspeltName } from './base/text/misspelt-names.ts'
import type { Quotas } from './base/quotas.ts'
import type { SignInSettings } from './identity/oidc/provider-settings.ts'
import { createRegistry } from './schema/registry.ts'
import type { SchemaTypes } from './schema/types.gen.ts'
import { readSignIn } from './config-sign-in.ts'

/** One variable with its effective value, which is masked if it is a secret. */
export interface EffectiveSetting {
  readonly name: string
  readonly value: string
  readonly source: 'env' | 'default'
}

export type PortSetting = 'PORT' | 'DEPLOYMENT_PORT' | 'OTLP_GRPC_PORT'

const PORT_SETTINGS = ['PORT', 'DEPLOYMENT_PORT', 'OTLP_GRPC_PORT'] as const

/** The whole configuration, frozen; docs/operating/configuration.md describes each variable. */
export interface Config {
  readonly host: string
  readonly port: number
  readonly deploymentPort: number
  /** Port of OTLP over gRPC; undefined if it is off. */
  readonly otlpGrpcPort: number | undefined
  /** Ports set in the environment. If a default port is taken, the next free port is used (D-55), or gRPC is off. */
  readonly namedPorts: readonly PortSetting[]
  readonly dataDir: string
  /** Undefined for an embedded ClickHouse in `dataDir`. */
  readonly clickhouseUrl: string | undefined
  /** Undefined for SQLite in `dataDir`. */
  readonly databaseUrl: string | undefined
  /** Maximum number of connections to Postgres of the server and its graph hosts. */
  readonly databaseConnections: number
  /** Undefined if events are in the run database. */
  readonly redisUrl: string | undefined
  /** Time for which a run waits while its events cannot be stored; then the run fails. */
  readonly redisOutageMs: number
  /** Undefined if attachments are files in `dataDir`. */
  readonly blobUrl: string | undefined
  /** What the ClickHouse at `clickhouseUrl` consists of. */
  readonly clickhouseLayout: ClickHouseLayout
  /** Undefined if all fragments stay on the disks of ClickHouse's default policy. */
  readonly coldStorage: { readonly policy: string; readonly days: number } | undefined
  readonly bootstrapApiKey: string | undefined
  /** False only on a loopback host. */
  readonly auth: boolean
  readonly identityOutageMs: number
  readonly signIn: SignInSettings
  /** Time between the stop signal and the stop, in which the server is not ready. */
  readonly drainDelayMs: number
  /** Undefined if records of the audit are kept for ever. */
  readonly auditRetentionDays: number | undefined
  /** `stdout` or the path of a file; undefined if no lines of the audit are written. */
  readonly auditLog: string | undefined
  /** Path of the set-up that the start applies. */
  readonly setupFile: string | undefined
  /** Retention of new projects; null for unlimited time. */
  readonly defaultRetentionDays: number | null
  /** URL of the platform API for browsers; undefined for `host` and `port`. */
  readonly publicUrl: string | undefined
  /** Origin of `deploymentPort` for browsers; undefined for that port at the host name of the interface. */
  readonly deploymentsOrigin: string | undefined
  readonly playgroundPrivateAddresses: 'auto' | 'on' | 'off'
  readonly ingestAck: 'log' | 'store'
  readonly ingestLogMaxBytes: number
  /** Free space on the disk of `dataDir` below which health reports a fault. */
  readonly diskMinFreeBytes: number
  /** Maximum bytes of a body after decompression. */
  readonly ingestMaxBodyBytes: number
  readonly ingestMaxInflightBytes: number
  /** Module paths as written, relative to the working directory. */
  readonly processors: readonly string[]
  /** Undefined if nothing is exported. */
  readonly otlpEndpoint: string | undefined
  readonly sqliteSynchronous: 'normal' | 'full'
  /** Limits of simultaneously open event streams. */
  readonly streams: { readonly at_once: number; readonly at_once_per_key: number }
  /** Limit of the event logs of all threads together. */
  readonly eventsMaxBytes: number
  /** Limits of each workspace. */
  readonly quotas: Readonly<Quotas>
  /** Whether traces are counted and the usage API is available: true if both of its variables are true. */
  readonly granularUsage: boolean
  readonly runs: RunsConfig
  /** The deployment of `GRAPHS`; undefined if there is none. */
  readonly hosted: HostedConfig | undefined
  readonly deploy: DeployConfig
  readonly logLevel: LogLevel
  readonly settings: readonly EffectiveSetting[]
  /** Environment variables that are not read and look like misspelt settings. */
  readonly misspelt: readonly MisspeltName[]
}

/** The project of `GRAPHS`. */
export interface HostedConfig {
  /** Path of its langgraph.json, relative to the working directory. */
  readonly graphs: string
  /** Whether graphs are reloaded when their files change. */
  readonly watch: boolean
  /** Undefined if the name of the folder of `graphs` is used. */
  readonly name: string | undefined
}

/** Settings of the control plane, which creates further deployments. */
export interface DeployConfig {
  readonly runtime: 'process' | 'container'
  readonly containerCommand: string | undefined
  readonly isolation: 'auto' | 'none' | 'uid' | 'sandbox'
  /** Maximum number of simultaneous builds. */
  readonly builds: number
  readonly maxSourceBytes: number
  /** Undefined if it is generated and kept in `dataDir`. The previous one is set during a rotation. */
  readonly secretsKey: string | undefined
  readonly secretsKeyPrevious: string | undefined
  readonly plan: 'developer' | 'plus' | 'startup' | 'enterprise'
}

export interface RunsConfig {
  /** Whether runs are recorded as traces. */
  readonly tracing: boolean
  readonly concurrency: number
  readonly runTimeoutMs: number
  readonly stallMs: number
  readonly cancelGraceMs: number
  /** Time limit for starting a revision of a deployment. */
  readonly startMs: number
  /** Time for which runs may continue on a replaced revision. */
  readonly drainMs: number
  /** Undefined if it is generated and kept in `dataDir`. */
  readonly webhookSecret: string | undefined
  readonly webhooksToPrivateAddresses: boolean
  /** The server's environment. langgraph.json may name its variables; hosts get only a few of them. */
  readonly environment: Environment
}

/** Environment variables by name: `process.env` or a test's own. */
export type Environment = Readonly<Record<string, string | undefined>>

type Settings = SchemaTypes['config']

type ClickHouseLayout =
  | { readonly kind: 'single' | 'cloud' }
  | { readonly kind: 'replicas' | 'shards'; readonly cluster: string }

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
  /** Set if the default is a path inside Weir's package. */
  'x-packaged'?: true
  /** Set if an empty value switches the setting off, instead of selecting the default. */
  'x-empty'?: 'off'
  /** The word that switches the setting off. */
  'x-off'?: string
}

/** Folder of the files that come with Weir; the path is the same from the sources and from the build. */
const PACKAGED = new URL('../', import.meta.url)
const SCHEMA_FILE = new URL('schemas/config.schema.json', PACKAGED)
/** Default path of the graphs of `weir dev`. */
const LOCAL_GRAPHS = 'langgraph.json'
const FLAGS = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

function settingSchemas(): [name: string, schema: SettingSchema][] {
  const file = JSON.parse(readFileSync(SCHEMA_FILE, 'utf8')) as { properties: Record<string, SettingSchema> }
  return Object.entries(file.properties)
}

/** Converts a value to its type. Text that cannot be parsed stays text, which the schema then refuses. */
function parseSetting(schema: SettingSchema, text: string): SettingValue {
  if (schema['x-unit'] === 'bytes') return parseSize(text) ?? text
  if (schema.type === 'integer') return /^-?\d+$/.test(text) ? Number(text) : text
  if (schema.type === 'boolean') return FLAGS.get(text.toLowerCase()) ?? text
  if (schema.enum?.includes(text.toLowerCase())) return text.toLowerCase()
  if (schema.type === 'array') return text.split(',').map((item) => item.trim())
  return text
}

/** The value of a variable that is not set. */
function defaultOf(schema: SettingSchema): SettingValue | undefined {
  if (schema['x-packaged'] === undefined) return schema.default
  return fileURLToPath(new URL(String(schema.default), PACKAGED))
}

function expectation(schema: SettingSchema): string {
  if (schema['x-expects'] !== undefined) return schema['x-expects']
  if (schema.enum !== undefined) return `one of ${schema.enum.join(', ')}`
  if (schema['x-unit'] === 'bytes') {
    const least = sizeText(schema.minimum ?? 0)
    const range =
      schema.maximum === undefined ? `of ${least} or more` : `from ${least} to ${sizeText(schema.maximum)}`
    return `a size ${range}, such as ${sizeText(Number(schema.default))}`
  }
  if (schema.type === 'integer') {
    const orOff = schema['x-off'] === undefined ? '' : `, or ${schema['x-off']}`
    return `an integer between ${schema.minimum} and ${schema.maximum}${orOff}`
  }
  return 'text'
}

function maskCredentials(text: string): string {
  return text.replace(/\/\/.*@/, '//***@').replace(/([?&][a-z_]*password=)[^&]*/gi, '$1***')
}

function masked(schema: SettingSchema, text: string): string {
  if (schema['x-secret'] === 'whole') return '***'
  return schema['x-secret'] === 'credentials' ? maskCredentials(text) : text
}

function namedPortsOf(effective: readonly EffectiveSetting[]): PortSetting[] {
  const named = (setting: PortSetting): boolean =>
    effective.some(({ name, source }) => name === setting && source === 'env')
  return PORT_SETTINGS.filter(named)
}

/** Messages about ports that two listeners would share. */
function samePorts(settings: Settings, named: readonly PortSetting[]): string[] {
  return named.flatMap((setting, i) => {
    const port = settings[setting]
    const other = port === 0 ? undefined : named.slice(0, i).find((before) => settings[before] === port)
    return port === undefined || other === undefined
      ? []
      : [`${setting}: must differ from ${other}, both are ${port}`]
  })
}

/** Messages about valid values that contradict each other. */
function crossMistakes(settings: Settings, effective: readonly EffectiveSetting[]): string[] {
  const mistakes: string[] = []
  if (settings.AUTH === 'off' && !isLoopback(settings.HOST))
    mistakes.push(`AUTH: off is accepted on a loopback HOST only, and HOST is "${settings.HOST}"`)
  mistakes.push(...samePorts(settings, namedPortsOf(effective)))
  mistakes.push(...clickHouseMistakes(settings))
  return mistakes
}

function clickHouseMistakes({
  CLICKHOUSE_URL: url,
  CLICKHOUSE_KIND: kind,
  CLICKHOUSE_CLUSTER: cluster,
  CLICKHOUSE_STORAGE_POLICY: policy,
}: Settings): string[] {
  const mistakes: string[] = []
  if (cluster !== undefined && url === undefined)
    mistakes.push(
      `CLICKHOUSE_CLUSTER: needs CLICKHOUSE_URL, the address of a server of the cluster "${cluster}"; without it the embedded ClickHouse is used`,
    )
  else if (kind !== undefined && kind !== 'single' && url === undefined)
    mistakes.push(
      `CLICKHOUSE_KIND: "${kind}" needs CLICKHOUSE_URL; the embedded ClickHouse is a single server`,
    )
  if ((kind === 'replicas' || kind === 'shards') && cluster === undefined)
    mistakes.push(`CLICKHOUSE_KIND: "${kind}" needs CLICKHOUSE_CLUSTER, the name of the cluster`)
  if ((kind === 'single' || kind === 'cloud') && cluster !== undefined)
    mistakes.push(
      `CLICKHOUSE_KIND: "${kind}" has no cluster, and CLICKHOUSE_CLUSTER is "${cluster}"; leave one of them out`,
    )
  if (policy !== undefined && url === undefined)
    mistakes.push(
      'CLICKHOUSE_STORAGE_POLICY: needs CLICKHOUSE_URL; the embedded ClickHouse has no storage policies',
    )
  if (policy !== undefined && kind === 'cloud')
    mistakes.push('CLICKHOUSE_STORAGE_POLICY: ClickHouse Cloud chooses where data lies; leave it out')
  return mistakes
}

function configError(mistakes: readonly string[]): AppError {
  const message = `The configuration is not valid:\n${mistakes.map((line) => `  ${line}`).join('\n')}`
  return new AppError('config_invalid', { message, details: mistakes })
}

function toColdStorage({
  CLICKHOUSE_STORAGE_POLICY: policy,
  CLICKHOUSE_COLD_AFTER_DAYS: days,
}: Settings): Config['coldStorage'] {
  return policy === undefined ? undefined : Object.freeze({ policy, days })
}

/** Only for settings without mistakes. */
function toLayout({ CLICKHOUSE_KIND: kind, CLICKHOUSE_CLUSTER: cluster }: Settings): ClickHouseLayout {
  if (cluster !== undefined) return Object.freeze({ kind: kind === 'shards' ? kind : 'replicas', cluster })
  return Object.freeze({ kind: kind === 'cloud' ? kind : 'single' })
}

function toHosted({ GRAPHS: graphs, DEPLOYMENT_NAME: name }: Settings): HostedConfig | undefined {
  return graphs === undefined ? undefined : Object.freeze({ graphs, watch: false, name })
}

function toDeploy(settings: Settings): DeployConfig {
  return Object.freeze({
    runtime: settings.DEPLOY_RUNTIME,
    containerCommand: settings.DEPLOY_CONTAINER_COMMAND,
    isolation: settings.DEPLOY_ISOLATION,
    builds: settings.DEPLOY_BUILDS,
    maxSourceBytes: settings.DEPLOY_MAX_SOURCE_BYTES,
    secretsKey: settings.SECRETS_KEY,
    secretsKeyPrevious: settings.SECRETS_KEY_PREVIOUS,
    plan: settings.ORGANIZATION_PLAN,
  })
}

function toRuns(settings: Settings, environment: Environment): RunsConfig {
  return Object.freeze({
    tracing: settings.RUN_TRACING === 'on',
    concurrency: settings.RUN_CONCURRENCY,
    runTimeoutMs: settings.BG_JOB_TIMEOUT_SECS * 1000,
    stallMs: settings.HOST_STALL_SECONDS * 1000,
    cancelGraceMs: settings.CANCEL_GRACE_SECONDS * 1000,
    startMs: settings.DEPLOY_START_SECONDS * 1000,
    drainMs: settings.DEPLOY_DRAIN_SECONDS * 1000,
    webhookSecret: settings.WEBHOOK_SECRET,
    webhooksToPrivateAddresses: settings.WEBHOOK_PRIVATE_ADDRESSES === 'on',
    environment,
  })
}

function toConfig(
  settings: Settings,
  { effective, env, signIn }: { effective: EffectiveSetting[]; env: Environment; signIn: SignInSettings },
): Config {
  const runs = toRuns(settings, env)
  return Object.freeze({
    host: settings.HOST,
    port: settings.PORT,
    deploymentPort: settings.DEPLOYMENT_PORT,
    otlpGrpcPort: settings.OTLP_GRPC_PORT,
    namedPorts: Object.freeze(namedPortsOf(effective)),
    dataDir: settings.DATA_DIR,
    clickhouseUrl: settings.CLICKHOUSE_URL,
    clickhouseLayout: toLayout(settings),
    coldStorage: toColdStorage(settings),
    databaseUrl: settings.DATABASE_URL,
    databaseConnections: settings.DATABASE_CONNECTIONS,
    redisUrl: settings.REDIS_URL,
    redisOutageMs: settings.REDIS_OUTAGE_SECONDS * 1000,
    blobUrl: settings.BLOB_URL,
    bootstrapApiKey: settings.BOOTSTRAP_API_KEY,
    auth: settings.AUTH === 'on',
    identityOutageMs: settings.IDENTITY_OUTAGE_SECONDS * 1000,
    signIn,
    drainDelayMs: settings.DRAIN_DELAY_SECONDS * 1000,
    auditRetentionDays: settings.AUDIT_RETENTION_DAYS || undefined,
    auditLog: settings.AUDIT_LOG,
    setupFile: settings.SETUP_FILE,
    defaultRetentionDays: settings.DEFAULT_RETENTION_DAYS || null,
    publicUrl: settings.PUBLIC_URL,
    deploymentsOrigin: settings.DEPLOYMENTS_ORIGIN && new URL(settings.DEPLOYMENTS_ORIGIN).origin,
    playgroundPrivateAddresses: settings.PLAYGROUND_PRIVATE_ADDRESSES,
    ingestAck: settings.INGEST_ACK,
    ingestLogMaxBytes: settings.INGEST_LOG_MAX_BYTES,
    diskMinFreeBytes: settings.DISK_MIN_FREE_BYTES,
    ingestMaxBodyBytes: settings.INGEST_MAX_BODY_BYTES,
    ingestMaxInflightBytes: settings.INGEST_MAX_INFLIGHT_BYTES,
    processors: Object.freeze(settings.PROCESSORS),
    otlpEndpoint: settings.OTEL_EXPORTER_OTLP_ENDPOINT,
    sqliteSynchronous: settings.SQLITE_SYNCHRONOUS,
    streams: Object.freeze({ at_once: settings.STREAMS_MAX, at_once_per_key: settings.STREAMS_MAX_PER_KEY }),
    eventsMaxBytes: settings.EVENTS_MAX_BYTES,
    quotas: Object.freeze({
      threads: settings.WORKSPACE_MAX_THREADS,
      crons: settings.WORKSPACE_MAX_CRONS,
      assistants: settings.WORKSPACE_MAX_ASSISTANTS,
      store_bytes: settings.WORKSPACE_MAX_STORE_BYTES,
    }),
    granularUsage:
      settings.DEFAULT_ORG_FEATURE_ENABLE_GRANULAR_USAGE_REPORTING && settings.GRANULAR_USAGE_TABLE_ENABLED,
    runs,
    hosted: toHosted(settings),
    deploy: toDeploy(settings),
    logLevel: settings.LOG_LEVEL,
    settings: Object.freeze(effective),
    misspelt: findMisspelt(
      env,
      effective.map(({ name }) => name),
    ),
  })
}

function isTurnedOff(schema: SettingSchema, text: string | undefined): boolean {
  if (text === '') return schema['x-empty'] === 'off'
  return text !== undefined && text.toLowerCase() === schema['x-off']
}

/**
 * The configuration from the environment. Throws one AppError `config_invalid` whose message has a line for every
 * mistake (also in `details`), never with a secret in it. Unknown variables are ignored; `misspelt` lists those that
 * look like settings.
 *
 * @example The settings of the process, with another folder.
 * ```ts
 * const config = readConfig({ ...process.env, DATA_DIR: '/var/lib/weir' })
 * ```
 */
export function readConfig(env: Environment = process.env): Config {
  const schemas = settingSchemas()
  const values: Record<string, unknown> = {}
  const effective: EffectiveSetting[] = []
  for (const [name, schema] of schemas) {
    const text = env[name]?.trim() ?? ''
    const isOff = isTurnedOff(schema, env[name]?.trim())
    const value = isOff ? undefined : text !== '' ? parseSetting(schema, text) : defaultOf(schema)
    if (value !== undefined) values[name] = value
    const shown = isOff && text !== '' ? text : value === undefined ? '' : masked(schema, String(value))
    effective.push(Object.freeze({ name, value: shown, source: text === '' && !isOff ? 'default' : 'env' }))
  }
  const result = createRegistry().check('config', values)
  const wrong = new Set(result.ok ? [] : result.faults.map(({ path }) => path.replace(/[.[].*$/s, '')))
  const mistakes = schemas.flatMap(([name, schema]) => {
    const text = env[name]?.trim() ?? ''
    const unread = shellMistake(schema, text)
    if (unread !== undefined) return [`${name}: ${unread}, got "${text}"`]
    return wrong.has(name)
      ? [`${name}: must be ${expectation(schema)}, got "${masked(schema, env[name] ?? '')}"`]
      : []
  })
  if (!result.ok || mistakes.length > 0) throw configError(mistakes)
  const { signIn, mistakes: wrongSignIn } = readSignIn(result.value)
  const crossing = [...crossMistakes(result.value, effective), ...wrongSignIn]
  if (crossing.length > 0) throw configError(crossing)
  return toConfig(result.value, { effective, env, signIn })
}

/** Message about quotes or `~` in a value; a shell would remove or replace them, files of Docker and systemd do not. */
function shellMistake(schema: SettingSchema, text: string): string | undefined {
  if (schema['x-secret'] !== undefined) return undefined
  if (/^(["']).*\1$/s.test(text)) return 'has quotes around its value, leave them out'
  return text.startsWith('~/') ? 'begins with ~, write the whole path of the home folder' : undefined
}

/** The flags of `weir dev`, which take precedence over environment variables. */
export interface DevFlags {
  graphs?: string | undefined
  port?: string | undefined
}

/**
 * The configuration of `weir dev`, which hosts graphs and reloads them when they change: those of `flags`, else of
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
