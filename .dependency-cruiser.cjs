// The walls between rooms, as in ARCHITECTURE.md: what is not allowed here is an error.
// `npm run check:walls` also proves that every source file was really looked at.

/**
 * The rooms by floors, from the bottom. A room imports only rooms of lower floors: the lists below may not allow more,
 * because an arrow that runs up makes two rooms one.
 */
const floors = [
  ['base'],
  ['schema', 'worker-threads'],
  ['trace', 'identity', 'events', 'backup', 'deploy'],
  ['processors', 'usage', 'runs', 'playground'],
  ['ingest', 'graph'],
  ['query', 'setup'],
  ['alerts'],
  ['storage', 'http'],
  ['hosting'],
  ['start'],
  ['cli'],
]

/** The floors inside the room `http`, from the bottom; `platform` and `deployment` are the two APIs. */
const httpFloors = [['api'], ['body'], ['server', 'mcp'], ['web', 'deployment'], ['platform'], ['grpc']]

/** room → rooms whose values it may import */
const values = {
  base: [],
  schema: ['base'],
  trace: ['base', 'schema'],
  processors: ['schema'],
  'worker-threads': ['base'],
  usage: ['base', 'schema', 'trace'],
  ingest: ['base', 'schema', 'worker-threads', 'trace', 'usage'],
  query: ['base', 'schema', 'trace', 'ingest'],
  identity: ['base', 'schema'],
  events: ['base', 'schema'],
  runs: ['base', 'schema', 'events'],
  deploy: ['base', 'schema'],
  backup: ['base', 'schema'],
  playground: ['base', 'schema', 'trace'],
  setup: ['base', 'schema', 'trace', 'identity'],
  alerts: ['base', 'schema', 'trace'],
  graph: ['base', 'schema'],
  storage: ['base', 'schema', 'backup'],
  hosting: ['base', 'schema', 'worker-threads', 'events', 'runs', 'deploy', 'graph', 'storage'],
  http: ['base', 'schema', 'trace', 'usage', 'identity', 'runs', 'events', 'deploy', 'playground', 'alerts'],
  cli: ['base', 'schema', 'trace', 'processors'],
}

/** room → rooms whose types, and nothing else, it may import */
const types = {
  processors: ['trace'],
  ingest: ['identity'],
  query: ['worker-threads'],
  hosting: ['ingest'],
  http: ['ingest', 'query', 'setup'],
  runs: ['identity'],
  setup: ['ingest', 'usage'],
  alerts: ['ingest', 'query'],
  graph: ['runs'],
  storage: [
    'trace',
    'ingest',
    'usage',
    'identity',
    'runs',
    'events',
    'deploy',
    'playground',
    'setup',
    'alerts',
  ],
}

/** room → packages from npm that it may import */
const vendors = {
  base: ['pino', '@opentelemetry/api'],
  schema: ['ajv', 'ajv-formats'],
  trace: ['js-tiktoken'],
  ingest: ['@opentelemetry/api'],
  storage: [
    '@opentelemetry/api',
    '@clickhouse/client',
    '@clickhouse/client-common',
    'chdb',
    'pg',
    'ioredis',
    '@aws-sdk/client-s3',
    '@langchain/core',
    '@langchain/langgraph-checkpoint',
  ],
  runs: ['croner'],
  identity: ['openid-client'],
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
    'ws',
  ],
  setup: ['yaml'],
  http: ['express', 'ws', '@opentelemetry/api'],
  cli: ['ignore'],
}

/** room of the web interface → its rooms that it may import; a view imports no other view */
const uiRooms = {
  api: [],
  router: [],
  parts: ['api', 'router'],
  data: ['api'],
  frame: [],
  'views/$1': ['api', 'router', 'parts', 'data', 'frame'],
}
const UI_VENDORS = [
  'react',
  'react-dom',
  '@tanstack/react-query',
  '@tanstack/react-virtual',
  'marked',
  'diff',
  '@dagrejs/dagre',
  '@langchain/langgraph-sdk',
]

/** Rules of the web interface: its rooms, the packages that all of them may use, and the files that put them together. */
const uiRules = [
  ...Object.entries(uiRooms).map(([room, rooms]) => ({
    from: { path: `^ui/${room.replace('$1', '([^/]+)')}/` },
    to: { path: [room, ...rooms].map((one) => `^ui/${one}/`) },
  })),
  {
    from: { path: '^ui/' },
    to: { path: UI_VENDORS.map((name) => `^node_modules/(@types/)?${name}/`) },
  },
  { from: { path: '^ui/(main|app|routes|workspace)\\.tsx$' }, to: { path: '^ui/' } },
]

/** Files outside the rooms, and single files that more may import. */
const tops = [
  // How calls, providers and classes of values are told apart, which SQL repeats, the ids under which records of spans are, and the column
  // of fragments that only this room writes: pure.
  {
    from: '^src/storage/clickhouse/',
    to: [
      '^src/trace/(price/(provider-name|complete-costs|units)|derive/same-call|filter/(filter|value-classes)|rows/(trace-run-row|kept-fragments))\\.ts$',
      '^src/trace/otel/span/(ids|parts)\\.ts$',
    ],
  },
  {
    from: '^src/storage/sql/identity/',
    to: [
      '^src/identity/(browser-sessions|invites|oauth|permissions|reach)\\.ts$',
      '^src/identity/oidc/sign-in-store\\.ts$',
      '^src/identity/scim/scim\\.ts$',
    ],
  },
  {
    from: '^src/storage/sql/deployments/',
    to: ['^src/deploy/(model|revision-states|stores/log-lines)\\.ts$'],
  },
  // The tables and decisions that the run store carries out in its transactions: pure.
  {
    from: '^src/storage/sql/runs/',
    to: ['^src/runs/(state|multitask|plan-run|task-id|execute/end-(event|response))\\.ts$'],
  },
  // The constants of a token bucket: pure.
  { from: '^src/storage/redis/rate-buckets\\.ts$', to: ['^src/ingest/rates/bucket\\.ts$'] },
  // What collects changes for a stream, as for other servers: pure.
  { from: '^src/http/platform/reply/live-streams\\.ts$', to: ['^src/ingest/live/run-changes\\.ts$'] },
  // The words that --role takes: pure.
  { from: '^src/cli/commands/(keys|members)\\.ts$', to: ['^src/identity/permissions\\.ts$'] },
  // The client that `weir login` is.
  { from: '^src/cli/server/sign-in\\.ts$', to: ['^src/identity/oauth\\.ts$'] },
  // Which keys a set-up refers to, read where the command runs.
  { from: '^src/cli/commands/setup/', to: ['^src/setup/keys-of-document\\.ts$'] },
  // How `graphs` and `env` of langgraph.json are read.
  { from: '^src/cli/deploy/project\\.ts$', to: ['^src/graph/project/(graph-spec|project-env)\\.ts$'] },
  // What a processor is built with: the contract, the makers of canonical messages, and what reads parts of a stream.
  {
    from: '^processors/',
    to: ['^src/trace/(messages/(processor|messages|message-checks|langchain-chunks)|json/json-text)\\.ts$'],
  },
  // The types of the settings that deployments are started with.
  { from: '^src/hosting/', to: ['^src/config\\.ts$'] },
  {
    from: '^src/config(-sign-in)?\\.ts$',
    to: ['^src/(base|schema)/', '^src/config-sign-in\\.ts$', '^src/identity/oidc/provider-settings\\.ts$'],
  },
  // Puts the parts together: it alone may import every room.
  {
    from: '^src/start/((backups|cluster|identity|playground)/)?[^/]+\\.ts$',
    to: ['^(src|processors)/', '^node_modules/@opentelemetry/'],
  },
  // The composition root of a thread that reads lists.
  {
    from: '^src/start/children/list-thread\\.ts$',
    to: ['^src/(base|schema|worker-threads|runs|storage)/', '^src/hosting/threads/lists\\.ts$'],
  },
  // The composition root of a thread that reads and writes large values of SQLite.
  {
    from: '^src/start/children/statement-thread\\.ts$',
    to: ['^src/(worker-threads|storage)/', '^src/hosting/threads/values\\.ts$'],
  },
  // The composition root of a thread that reads large values of items.
  {
    from: '^src/start/children/item-thread\\.ts$',
    to: ['^src/(schema|worker-threads|runs|storage)/', '^src/hosting/threads/items\\.ts$'],
  },
  // The composition root of a thread that parses large bodies.
  {
    from: '^src/start/children/body-thread\\.ts$',
    to: ['^src/(base|schema|worker-threads|trace)/', '^src/http/body/(bulk|json)\\.ts$'],
  },
  // The composition root of a thread that unpacks the sources of deployments.
  { from: '^src/start/children/source-thread\\.ts$', to: ['^src/(worker-threads|deploy/source)/'] },
  // The composition root of a thread that decodes requests.
  {
    from: '^src/start/children/decode-worker\\.ts$',
    to: ['^src/(worker-threads|trace/decode)/', '^src/ingest/lane-tasks\\.ts$'],
  },
  // The composition root of a thread that derives and reads.
  {
    from: '^src/start/children/pipeline-worker\\.ts$',
    to: ['^src/(base|schema|worker-threads|trace|ingest|query|usage)/', '^processors/index\\.ts$'],
  },
  // The composition root of a graph host.
  { from: '^src/start/children/graph-host\\.ts$', to: ['^src/(base|schema|graph|storage)/'] },
  { from: '^src/start/children/(auth|type|app|ui)-host\\.ts$', to: ['^src/graph/'] },
  {
    from: '^src/telemetry\\.ts$',
    to: ['^src/(base|schema)/', '^src/config\\.ts$', '^node_modules/@opentelemetry/'],
  },
  { from: '^src/main\\.ts$', to: ['^src/cli/', '^src/base/errors\\.ts$'] },
  {
    from: '^src/cli/(commands/(serve|dev|config|backups/\\w+|secrets/rotate|private-files)|terminal/welcome|server/(find-target|client-settings))\\.ts$',
    to: ['^src/(config|start/(server|server-address|backups/[\\w-]+|rotate-secrets))\\.ts$'],
  },
]

const pathOf = (room) => (room === 'processors' ? '^processors/' : `^src/${room}/`)

/** Rules against imports from a place on one floor to another place on the same floor or on a higher one. */
const upwardRules = (storeys, pathOfPlace) =>
  storeys.flatMap((floor, height) =>
    floor.flatMap((place) => {
      const forbidden = storeys.slice(height).flat()
      const path = forbidden.filter((other) => other !== place).map(pathOfPlace)
      const rule = {
        name: 'no-upward-arrow',
        severity: 'error',
        from: { path: pathOfPlace(place) },
        to: { path },
      }
      return path.length === 0 ? [] : [rule]
    }),
  )

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
  ...uiRules,
  ...tops.map(({ from, to }) => ({ from: { path: from }, to: { path: to } })),
]

/** Node modules that only some rooms may touch; `trace` and `processors` stay free of input and output. */
const coreWalls = [
  { name: 'only-storage-opens-sqlite', pathNot: '^src/storage/', core: '^(node:)?sqlite$' },
  {
    name: 'only-threads-starts-threads',
    pathNot: '^src/(worker-threads|start/children)/',
    core: '^(node:)?worker_threads$',
  },
  {
    // Builds of deployments run package managers, and the sandbox is tried once; `weir open` starts the user's browser.
    name: 'only-storage-and-graph-start-processes',
    pathNot: '^src/(storage|graph|deploy/(build|isolation)/|cli/terminal/open-browser\\.ts$)',
    core: '^(node:)?child_process$',
  },
]

module.exports = {
  allowed,
  allowedSeverity: 'error',
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Modules that import each other, be it for types only, cannot be understood one at a time.',
      severity: 'error',
      from: {},
      to: { circular: true },
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
      from: { path: '^src/cli/commands/validate' },
      to: { path: '^src/(ingest|query|storage|http|identity|usage|runs|graph|start)/', reachable: true },
    },
    {
      name: 'server-starts-without-langgraph',
      comment:
        'LangGraph takes a quarter of the CPU of a start: only hosts of graphs load what extends its classes.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(start/children|storage/sql/(items|broker|checkpoints))/' },
      to: {
        path: '^src/storage/sql/(items/graph-store|broker/brokered-storage|checkpoints/checkpointer)\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'no-unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    ...upwardRules(floors, pathOf),
    ...upwardRules(httpFloors, (folder) => `^src/http/${folder}/`),
    ...coreWalls.map(({ name, pathNot, core }) => ({
      name,
      severity: 'error',
      from: { pathNot },
      to: { path: core, dependencyTypes: ['core'] },
    })),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.test\\.ts$|^dist/|^ui/dist/' },
    tsPreCompilationDeps: 'specify',
    tsConfig: { fileName: 'tsconfig.json' },
    moduleSystems: ['es6', 'cjs'],
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
}
