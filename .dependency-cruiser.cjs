// The walls between rooms, as in ARCHITECTURE.md: what is not allowed here is an error.
// `npm run check:walls` also proves that every source file was really looked at.

/** room → rooms whose values it may import */
const values = {
  base: [],
  schema: ['base'],
  trace: ['base', 'schema'],
  processors: ['schema'],
  ingest: ['base', 'schema', 'trace', 'processors'],
  usage: ['base', 'schema'],
  auth: ['base', 'schema'],
  events: ['base', 'schema'],
  runs: ['base', 'schema', 'events'],
  graph: ['base', 'schema'],
  storage: ['base', 'schema'],
  http: ['base', 'schema', 'trace', 'ingest', 'usage', 'auth', 'runs', 'events'],
  client: [],
  cli: ['base', 'schema', 'trace', 'processors', 'client'],
}

/** room → rooms whose types, and nothing else, it may import */
const types = {
  processors: ['trace'],
  ingest: ['auth', 'usage'],
  runs: ['auth'],
  graph: ['runs'],
  storage: ['trace', 'ingest', 'usage', 'auth', 'runs', 'events'],
  client: ['schema'],
}

/** room → packages from npm that it may import */
const vendors = {
  base: ['pino', '@opentelemetry/api'],
  schema: ['ajv', 'ajv-formats'],
  trace: ['js-tiktoken', '@pydantic/genai-prices'],
  ingest: ['@opentelemetry/api'],
  storage: [
    '@opentelemetry/api',
    '@clickhouse/client',
    '@clickhouse/client-common',
    'chdb',
    'pg',
    'ioredis',
    '@langchain/core',
    '@langchain/langgraph-checkpoint',
  ],
  runs: ['croner'],
  graph: [
    '@langchain/core',
    '@langchain/langgraph',
    '@langchain/langgraph-api',
    '@langchain/langgraph-checkpoint',
    '@langchain/langgraph-ui',
    '@hono/node-server',
    'hono',
    'tsx',
    'typescript',
  ],
  http: ['express', '@opentelemetry/api'],
}

/** Files outside the rooms, and single files that more may import. */
const tops = [
  // The tables and decisions that the run store carries out in its transactions: pure.
  { from: '^src/storage/sql/run-store', to: ['^src/runs/(state|multitask|run-done)\\.ts$'] },
  // What a processor is built with: the contract and the makers of canonical messages.
  { from: '^processors/', to: ['^src/trace/(processor|messages|message-checks)\\.ts$'] },
  { from: '^src/config\\.ts$', to: ['^src/(base|schema)/', '^src/misspelt-names\\.ts$'] },
  {
    from: '^src/(claim-stores|start-(deployment|event-log|graph-hosts|http|lists|project))\\.ts$',
    to: ['^src/'],
  },
  // The composition root of a thread that reads lists.
  { from: '^src/list-thread\\.ts$', to: ['^src/(base|schema|ingest|runs|storage)/'] },
  // The composition root of a graph host.
  { from: '^src/host\\.ts$', to: ['^src/(base|schema|graph|storage)/'] },
  { from: '^src/(auth|type|app|ui)-host\\.ts$', to: ['^src/graph/'] },
  { from: '^src/server\\.ts$', to: ['^(src|processors)/', '^node_modules/@opentelemetry/'] },
  {
    from: '^src/telemetry\\.ts$',
    to: ['^src/(base|schema)/', '^src/config\\.ts$', '^node_modules/@opentelemetry/'],
  },
  { from: '^src/main\\.ts$', to: ['^src/cli/', '^src/base/errors\\.ts$'] },
  {
    from: '^src/cli/(serve|dev|welcome|config|find-target)\\.ts$',
    to: ['^src/(server|config|server-address)\\.ts$'],
  },
  { from: '^src/server-address\\.ts$', to: ['^src/(base|storage)/'] },
  { from: '^src/data-dir\\.ts$', to: ['^src/base/', '^src/server-address\\.ts$'] },
  { from: '^src/misspelt-names\\.ts$', to: ['^src/base/'] },
]

const pathOf = (room) => (room === 'processors' ? '^processors/' : `^src/${room}/`)

const allowed = [
  { from: {}, to: { dependencyTypes: ['core'] } },
  ...Object.entries(values).map(([room, rooms]) => ({
    from: { path: pathOf(room) },
    to: { path: [room, ...rooms].map(pathOf) },
  })),
  ...Object.entries(types).map(([room, rooms]) => ({
    from: { path: pathOf(room) },
    to: { path: rooms.map(pathOf), dependencyTypes: ['type-only'] },
  })),
  ...Object.entries(vendors).map(([room, names]) => ({
    from: { path: pathOf(room) },
    to: { path: names.map((name) => `^node_modules/(@types/)?${name}/`) },
  })),
  ...tops.map(({ from, to }) => ({ from: { path: from }, to: { path: to } })),
]

/** Node modules that only some rooms may touch; `trace` and `processors` stay free of input and output. */
const coreWalls = [
  { name: 'only-storage-opens-sqlite', pathNot: '^src/storage/', core: '^(node:)?sqlite$' },
  {
    name: 'only-ingest-starts-threads',
    pathNot: '^src/(ingest/|list-thread\\.ts$)',
    core: '^(node:)?worker_threads$',
  },
  {
    name: 'only-storage-and-graph-start-processes',
    pathNot: '^src/(storage|graph)/',
    core: '^(node:)?child_process$',
  },
]

module.exports = {
  allowed,
  allowedSeverity: 'error',
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Modules that import each other for values cannot be understood one at a time.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'pure-rooms-do-no-io',
      comment: 'trace and processors are pure: the same code runs in threads, in the CLI and in tests.',
      severity: 'error',
      from: { path: '^(src/trace|processors)/' },
      to: { path: '^(node:)?(fs|fs/promises|net|http|https|dns|child_process|worker_threads|sqlite)$' },
    },
    {
      name: 'validate-stays-light',
      comment: '`weir validate` starts in under 200 ms: it loads no server, no store, no express.',
      severity: 'error',
      from: { path: '^src/cli/validate' },
      to: { path: '^src/(ingest|storage|http|auth|usage|runs|graph|server)', reachable: true },
    },
    {
      name: 'no-unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    ...coreWalls.map(({ name, pathNot, core }) => ({
      name,
      severity: 'error',
      from: { pathNot },
      to: { path: core, dependencyTypes: ['core'] },
    })),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.test\\.ts$|^dist/' },
    tsPreCompilationDeps: 'specify',
    tsConfig: { fileName: 'tsconfig.json' },
    moduleSystems: ['es6', 'cjs'],
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
}
