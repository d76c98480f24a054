import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { AppError } from './base/errors.ts'
import { describeConfig } from './cli/commands/config.ts'
import { readConfig, readDevConfig } from './config.ts'

function mistakesOf(env: Record<string, string>): string[] {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof AppError && error.code === 'config_invalid') return error.details as string[]
    throw error
  }
  return []
}

describe('readConfig', () => {
  it('runs completely on one machine without any variable', () => {
    expect(readConfig({})).toMatchObject({
      host: '127.0.0.1',
      port: 1984,
      deploymentPort: 2024,
      dataDir: './data',
      clickhouseUrl: undefined,
      databaseUrl: undefined,
      bootstrapApiKey: undefined,
      auth: true,
      ingestAck: 'log',
      ingestLogMaxBytes: 4 * 1024 ** 3,
      diskMinFreeBytes: 64 * 1024 ** 2,
      ingestMaxBodyBytes: 200 * 1024 ** 2,
      ingestMaxInflightBytes: 256 * 1024 ** 2,
      processors: [],
      otlpEndpoint: undefined,
      sqliteSynchronous: 'normal',
      granularUsage: true,
      logLevel: 'info',
    })
  })

  it('hosts the bundled example, the graphs that GRAPHS names, or none when it is empty', () => {
    const example = readConfig({}).hosted?.graphs ?? ''
    expect(example).toMatch(/^\/.*\/examples\/graphs\/langgraph\.json$/)
    expect(existsSync(example)).toBe(true)
    for (const GRAPHS of ['', ' ']) {
      const config = readConfig({ GRAPHS })
      expect(config.hosted).toBeUndefined()
      expect(config.settings).toContainEqual({ name: 'GRAPHS', value: '', source: 'env' })
    }
    const env = { GRAPHS: './langgraph.json', HOST_STALL_SECONDS: '7', RUN_TRACING: 'off', TOKEN: 'x' }
    const { hosted, runs } = readConfig(env)
    expect(hosted).toEqual({ graphs: './langgraph.json', watch: false, name: undefined })
    expect(runs).toEqual({
      tracing: false,
      concurrency: 256,
      runTimeoutMs: 3_600_000,
      stallMs: 7_000,
      cancelGraceMs: 5_000,
      startMs: 60_000,
      drainMs: 600_000,
      webhookSecret: undefined,
      webhooksToPrivateAddresses: false,
      environment: env,
    })
    expect(mistakesOf({ WEBHOOK_SECRET: 'short' })).toHaveLength(1)
  })

  it('makes weir dev watch the graphs of a flag, of GRAPHS, or of the working directory', () => {
    const graphsOf = (flags: object, env: Record<string, string>) => readDevConfig(flags, env).hosted
    expect(graphsOf({ graphs: 'a.json' }, { GRAPHS: 'b.json' })).toMatchObject({
      graphs: 'a.json',
      watch: true,
    })
    expect(graphsOf({}, { GRAPHS: 'b.json' })).toMatchObject({ graphs: 'b.json', watch: true })
    expect(graphsOf({}, { GRAPHS: '' })).toMatchObject({ graphs: readConfig({}).hosted?.graphs, watch: true })
    expect(readDevConfig({ port: '3000' }, { DEPLOYMENT_PORT: '4000' }).deploymentPort).toBe(3000)
  })

  it('treats an empty value as unset and ignores unknown variables', () => {
    expect(readConfig({ PORT: '', PATH: '/bin', UNKNOWN: 'x' }).port).toBe(1984)
  })

  it.each([
    ['1048576', 1048576],
    ['512MiB', 512 * 1024 ** 2],
    ['1.5 gib', 1.5 * 1024 ** 3],
    ['2GB', 2e9],
    ['64M', 64e6],
  ])('reads the size %s', (text, bytes) => {
    expect(readConfig({ INGEST_LOG_MAX_BYTES: text }).ingestLogMaxBytes).toBe(bytes)
  })

  it.each([
    ['true', true],
    ['TRUE', true],
    ['1', true],
    ['False', false],
    ['0', false],
  ])('reads the switch %s', (text, on) => {
    expect(readConfig({ GRANULAR_USAGE_TABLE_ENABLED: text }).granularUsage).toBe(on)
    const other = { DEFAULT_ORG_FEATURE_ENABLE_GRANULAR_USAGE_REPORTING: text }
    expect(readConfig(other).granularUsage).toBe(on)
    expect(readConfig({ ...other, GRANULAR_USAGE_TABLE_ENABLED: '0' }).granularUsage).toBe(false)
  })

  it('accepts a PUBLIC_URL with a port and a slash at its end', () => {
    expect(readConfig({ PUBLIC_URL: 'https://[::1]:8443/' }).publicUrl).toBe('https://[::1]:8443/')
  })

  it('splits PROCESSORS at commas', () => {
    expect(readConfig({ PROCESSORS: './a.js, ./b.js' }).processors).toEqual(['./a.js', './b.js'])
  })

  it('returns a frozen object', () => {
    const config = readConfig({})
    expect(Object.isFrozen(config)).toBe(true)
    expect(Object.isFrozen(config.processors)).toBe(true)
  })

  it('reports all invalid values at once, one line each', () => {
    expect(
      mistakesOf({ PORT: 'abc', DEPLOYMENT_PORT: '70000', AUTH: 'maybe', PROCESSORS: './a.js,' }),
    ).toEqual([
      'PORT: must be an integer between 0 and 65535, got "abc"',
      'DEPLOYMENT_PORT: must be an integer between 0 and 65535, got "70000"',
      'AUTH: must be one of on, off, got "maybe"',
      'PROCESSORS: must be a comma-separated list of module paths such as ./my-format.js, got "./a.js,"',
    ])
  })

  it.each([
    ['INGEST_LOG_MAX_BYTES', '5 apples', 'must be a size of 1MiB or more, such as 4GiB, got "5 apples"'],
    ['INGEST_MAX_BODY_BYTES', '2GiB', 'must be a size from 1MiB to 1GiB, such as 200MiB, got "2GiB"'],
    ['CLICKHOUSE_URL', 'tcp://host:9000', 'must be an http or https URL'],
    ['DATABASE_URL', 'mysql://host/weir', 'must be a postgresql URL'],
    ['PORT', '1.5', 'must be an integer'],
    ['PORT', '"1984"', 'has quotes around its value, leave them out, got ""1984""'],
    ['GRAPHS', "'a/langgraph.json'", 'has quotes around its value, leave them out'],
    ['DATA_DIR', '~/weir', 'begins with ~, write the whole path of the home folder, got "~/weir"'],
    ['HOST', 'http://127.0.0.1', 'must be an address or name of this machine such as 127.0.0.1'],
    ['HOST', '[::1]', 'without http://, brackets and port, got "[::1]"'],
    ['HOST', '127.0.0.1:1984', 'without http://, brackets and port'],
    ['PORT', '-1', 'must be an integer'],
    ['PORT', '0x10', 'must be an integer'],
    ['PUBLIC_URL', 'https://example.com/weir', 'without a path: the web interface needs a host name'],
    ['PUBLIC_URL', 'https://example.com?a=b', 'without a path'],
    ['GRANULAR_USAGE_TABLE_ENABLED', 'constructor', 'must be true or false, 1 or 0'],
  ])('refuses %s=%s', (name, text, message) => {
    expect(mistakesOf({ [name]: text })).toEqual([expect.stringContaining(message)])
  })

  it('never shows a secret, not even an invalid one', () => {
    const mistakes = mistakesOf({
      BOOTSTRAP_API_KEY: 'short hunter2',
      CLICKHOUSE_URL: 'tcp://weir:hunter2@host:9000',
      DATABASE_URL: 'mysql://host/weir?user=weir&password=hunter2',
      REDIS_URL: 'redis+sentinel://weir:p@hunter2@host:0/main',
    })
    expect(mistakes).toHaveLength(4)
    expect(mistakes.join()).not.toContain('hunter2')
  })

  it('allows AUTH=off on a loopback host only', () => {
    expect(readConfig({ AUTH: 'off', HOST: '::1' }).auth).toBe(false)
    expect(mistakesOf({ AUTH: 'off', HOST: '0.0.0.0' })).toEqual([expect.stringContaining('AUTH: off')])
  })

  it('refuses the same port twice when both ports are set, except for port 0', () => {
    expect(mistakesOf({ PORT: '2024', DEPLOYMENT_PORT: '2024' })).toEqual([
      expect.stringContaining('DEPLOYMENT_PORT: must differ'),
    ])
    expect(readConfig({ PORT: '2024' })).toMatchObject({ port: 2024, deploymentPort: 2024 })
    expect(readConfig({ PORT: '0', DEPLOYMENT_PORT: '0' }).port).toBe(0)
  })

  it('requires CLICKHOUSE_URL with CLICKHOUSE_CLUSTER', () => {
    expect(mistakesOf({ CLICKHOUSE_CLUSTER: 'main' })).toEqual([
      'CLICKHOUSE_CLUSTER: needs CLICKHOUSE_URL, the address of a server of the cluster "main"; without it the embedded ClickHouse is used',
    ])
    const env = { CLICKHOUSE_CLUSTER: 'main', CLICKHOUSE_URL: 'http://ch:8123' }
    expect(readConfig(env).clickhouseLayout).toEqual({ kind: 'replicas', cluster: 'main' })
  })

  it('CLICKHOUSE_KIND says what ClickHouse consists of', () => {
    const CLICKHOUSE_URL = 'http://ch:8123'
    const layoutOf = (env: Record<string, string>) => readConfig({ CLICKHOUSE_URL, ...env }).clickhouseLayout
    expect(readConfig({}).clickhouseLayout).toEqual({ kind: 'single' })
    expect(layoutOf({ CLICKHOUSE_KIND: 'cloud' })).toEqual({ kind: 'cloud' })
    const shards = { kind: 'shards', cluster: 'main' }
    expect(layoutOf({ CLICKHOUSE_KIND: 'shards', CLICKHOUSE_CLUSTER: 'main' })).toEqual(shards)
  })

  it.each<[Record<string, string>, string]>([
    [{ CLICKHOUSE_KIND: 'shards' }, 'CLICKHOUSE_KIND: "shards" needs CLICKHOUSE_CLUSTER'],
    [{ CLICKHOUSE_KIND: 'replicas' }, 'CLICKHOUSE_KIND: "replicas" needs CLICKHOUSE_CLUSTER'],
    [{ CLICKHOUSE_KIND: 'cloud', CLICKHOUSE_CLUSTER: 'main' }, 'CLICKHOUSE_KIND: "cloud" has no cluster'],
    [{ CLICKHOUSE_KIND: 'single', CLICKHOUSE_CLUSTER: 'main' }, 'CLICKHOUSE_KIND: "single" has no cluster'],
    [{ CLICKHOUSE_KIND: 'cloud', CLICKHOUSE_STORAGE_POLICY: 'tiered' }, 'CLICKHOUSE_STORAGE_POLICY: '],
    [{ CLICKHOUSE_KIND: 'cloud', CLICKHOUSE_URL: '' }, 'CLICKHOUSE_KIND: "cloud" needs CLICKHOUSE_URL'],
    [{ CLICKHOUSE_KIND: 'several' }, 'CLICKHOUSE_KIND: '],
  ])('refuses %j', (env, words) => {
    const mistakes = mistakesOf({ CLICKHOUSE_URL: 'http://ch:8123', ...env })
    expect(mistakes).toEqual([expect.stringContaining(words)])
  })

  it('lists variables that look like misspelt settings', () => {
    expect(readConfig({ DATADIR: '/d', PATH: '/bin' }).misspelt).toEqual([
      { name: 'DATADIR', meant: 'DATA_DIR' },
    ])
  })

  it('lists the ports that are set, also when they are set to their default', () => {
    expect(readConfig({}).namedPorts).toEqual([])
    expect(readConfig({ PORT: '1984', DEPLOYMENT_PORT: '' }).namedPorts).toEqual(['PORT'])
    expect(readDevConfig({ port: '2024' }, {}).namedPorts).toEqual(['DEPLOYMENT_PORT'])
    expect(readConfig({ OTLP_GRPC_PORT: '4317' }).namedPorts).toEqual(['OTLP_GRPC_PORT'])
  })

  it('accepts a port that is turned off', () => {
    expect(readConfig({}).otlpGrpcPort).toBe(4317)
    const config = readConfig({ OTLP_GRPC_PORT: 'OFF' })
    expect(config.otlpGrpcPort).toBeUndefined()
    expect(describeConfig(config)).toMatch(/OTLP_GRPC_PORT +OFF +\(env\)/)
    expect(readConfig({ OTLP_GRPC_PORT: '' }).otlpGrpcPort).toBe(4317)
    expect(mistakesOf({ OTLP_GRPC_PORT: 'no' })).toEqual([
      'OTLP_GRPC_PORT: must be an integer between 0 and 65535, or off, got "no"',
    ])
    expect(mistakesOf({ PORT: '4317', OTLP_GRPC_PORT: '4317' })).toEqual([
      expect.stringContaining('OTLP_GRPC_PORT: must differ from PORT'),
    ])
  })
})

describe('describeConfig', () => {
  it('shows values in effect with their source, secrets masked', () => {
    const text = describeConfig(
      readConfig({ CLICKHOUSE_URL: 'http://weir:hunter2@ch:8123/weir', BOOTSTRAP_API_KEY: 'k'.repeat(20) }),
    )
    expect(text).toMatch(/^PORT +1984 {2}\(default\)$/m)
    expect(text).toMatch(/^CLICKHOUSE_URL +http:\/\/\*\*\*@ch:8123\/weir {2}\(env\)$/m)
    expect(text).toMatch(/^BOOTSTRAP_API_KEY +\*\*\* {2}\(env\)$/m)
    expect(text).not.toMatch(/hunter2|kkk/)
  })
})
