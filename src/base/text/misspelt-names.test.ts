import { describe, expect, it } from 'vitest'
import { readConfig } from '../../config.ts'
import { findMisspelt } from './misspelt-names.ts'

const KNOWN = readConfig({}).settings.map(({ name }) => name)

describe('findMisspelt', () => {
  it.each([
    ['DATADIR', 'DATA_DIR'],
    ['data_dir', 'DATA_DIR'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['CLICKHOUSE_URI', 'CLICKHOUSE_URL'],
    ['CLICK_HOUSE_URL', 'CLICKHOUSE_URL'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['REDIS_URI', 'REDIS_URL'],
    ['GRAPH', 'GRAPHS'],
    ['GRAHPS', 'GRAPHS'],
    ['PROT', 'PORT'],
    ['PRT', 'PORT'],
    ['POORT', 'PORT'],
    ['HOTS', 'HOST'],
    ['AUHT', 'AUTH'],
    ['DEPLOYMENTPORT', 'DEPLOYMENT_PORT'],
    ['PROCESSOR', 'PROCESSORS'],
    ['INGEST_LOG_MAX_BYTE', 'INGEST_LOG_MAX_BYTES'],
    ['GRANULAR_USAGE_TABLES_ENABLE', 'GRANULAR_USAGE_TABLE_ENABLED'],
    ['WEIR_PORT', 'PORT'],
    ['WEIR_DATA_DIR', 'DATA_DIR'],
    ['WEIR_DATADIR', 'DATA_DIR'],
    ['WEIR_APIKEYS', 'WEIR_API_KEY'],
    ['WEIR_APIKEY', 'WEIR_API_KEY'],
  ])('%s means %s', (name, meant) => {
    expect(findMisspelt({ name: 'x', [name]: 'x' }, KNOWN)).toEqual([{ name, meant }])
  })

  it('ignores names that are read, and misspelt ones beside the right name', () => {
    const all = Object.fromEntries(
      [...KNOWN, 'WEIR_URL', 'WEIR_API_KEY', 'WEIR_DEPLOYMENT_URL'].map((n) => [n, 'x']),
    )
    expect(findMisspelt(all, KNOWN)).toEqual([])
    expect(findMisspelt({ REDIS_URI: 'a', REDIS_URL: 'b' }, KNOWN)).toEqual([])
  })

  it('ignores variables that other programs and platforms commonly set', () => {
    const others =
      'PATH HOME HOSTNAME HOSTTYPE PWD OLDPWD SHELL SHLVL TERM LANG LANGUAGE LC_ALL LOGNAME USER TZ TMPDIR EDITOR PAGER ' +
      'NODE_ENV NODE_OPTIONS NODE_PATH NO_COLOR CI DEBUG LOG_FORMAT LOG_FILE LOG_DIR PORTS HOSTS POST COST SORT AUTHOR AUTHS HOSE PART TERM_PROGRAM TERM XAUTHORITY ' +
      'XDG_DATA_DIRS XDG_DATA_HOME XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS SSH_AUTH_SOCK DOCKER_HOST PGHOST PGPORT ' +
      'PGDATA PGDATABASE POSTGRES_URL POSTGRES_PASSWORD POSTGRES_DB MONGO_URL MYSQL_URL REDIS_HOST REDIS_PORT DB_URL ' +
      'DATABASE_HOST DATABASE_NAME CLICKHOUSE_DB CLICKHOUSE_USER CLICKHOUSE_PASSWORD CLICKHOUSE_HOST SECRET API_KEY ' +
      'OPENAI_API_KEY ANTHROPIC_API_KEY LANGSMITH_API_KEY LANGSMITH_ENDPOINT LANGGRAPH_API_URL LANGCHAIN_TRACING_V2 ' +
      'OTEL_SERVICE_NAME OTEL_EXPORTER_OTLP_HEADERS OTEL_EXPORTER_OTLP_PROTOCOL OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ' +
      'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT npm_config_loglevel npm_lifecycle_event npm_execpath INIT_CWD ' +
      'GITHUB_TOKEN GITHUB_ACTIONS AWS_REGION GOOGLE_APPLICATION_CREDENTIALS KUBERNETES_SERVICE_HOST KUBERNETES_PORT'
    const env = Object.fromEntries(others.split(' ').map((name) => [name, 'x']))
    expect(findMisspelt(env, KNOWN)).toEqual([])
    const kubernetes = {
      WEIR_SERVICE_HOST: '10.0.0.1',
      WEIR_SERVICE_PORT: '1984',
      WEIR_SERVICE_PORT_HTTP: '1984',
      WEIR_PORT: 'tcp://10.0.0.1:1984',
      WEIR_PORT_1984_TCP: 'tcp://10.0.0.1:1984',
      WEIR_PORT_1984_TCP_ADDR: '10.0.0.1',
    }
    expect(findMisspelt(kubernetes, KNOWN)).toEqual([])
  })
})
