import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pickConfigurableHeaders } from './configurable-headers.ts'
import { readDeploymentFile } from './deployment-file.ts'
import { useFolder } from '../../../test/support/folder.ts'

let folder: string
useFolder((made) => void (folder = made))

async function read(config: unknown, environment: Record<string, string> = {}) {
  const path = join(folder, 'langgraph.json')
  await writeFile(path, typeof config === 'string' ? config : JSON.stringify(config))
  return readDeploymentFile(path, environment)
}

const graphs = { agent: './src/agent.ts:graph' }
const EMPTY = { config: {}, context: {} }
const JAVASCRIPT = { language: 'javascript', module: null, ...EMPTY }

describe('readDeploymentFile', () => {
  it('names graphs by file and export', async () => {
    const file = await read({
      graphs: { ...graphs, other: { path: 'b.mjs', description: 'Does b.' } },
      store: { index: { embed: './embed.ts:embed', dims: 3 }, ttl: { default_ttl: 5 } },
      checkpointer: { ttl: { strategy: 'delete' } },
      auth: { path: './auth.ts:auth' },
    })
    expect(file.graphs).toEqual([
      {
        graph_id: 'agent',
        file: join(folder, 'src/agent.ts'),
        export: 'graph',
        description: null,
        ...JAVASCRIPT,
      },
      {
        graph_id: 'other',
        file: join(folder, 'b.mjs'),
        export: 'default',
        description: 'Does b.',
        ...JAVASCRIPT,
      },
    ])
    expect(file.store_index).toEqual({ embed: `${join(folder, 'embed.ts')}:embed`, dims: 3 })
    expect(file.store_ttl).toEqual({ default_ttl: 5 })
    expect(file.checkpointer_ttl).toEqual({ strategy: 'delete' })
    expect(file.auth).toEqual({
      file: join(folder, 'auth.ts'),
      export: 'auth',
      disable_studio_auth: false,
      language: 'javascript',
      module: null,
    })
  })

  it('knows Python graphs by the ending of their file or by the name of a module', async () => {
    const python = { language: 'python', description: null, ...EMPTY }
    const file = await read({
      graphs: { a: './a.py:make', b: 'b.py', c: 'app.agents.c:graph', d: 'd.ts:graph' },
    })
    expect(file.graphs).toEqual([
      { graph_id: 'a', file: join(folder, 'a.py'), module: null, export: 'make', ...python },
      { graph_id: 'b', file: join(folder, 'b.py'), module: null, export: 'graph', ...python },
      {
        graph_id: 'c',
        file: join(folder, 'app/agents/c.py'),
        module: 'app.agents.c',
        export: 'graph',
        ...python,
      },
      { graph_id: 'd', file: join(folder, 'd.ts'), export: 'graph', description: null, ...JAVASCRIPT },
    ])
  })

  it('reads env from a file, a map, or by name from the environment', async () => {
    await writeFile(join(folder, '.env'), '# keys\nA=1\nB="two words"\n')
    expect((await read({ graphs, env: '.env' })).env).toEqual({ A: '1', B: 'two words' })
    expect((await read({ graphs, env: { A: 1, B: true } })).env).toEqual({ A: '1', B: 'true' })
    expect((await read({ graphs, env: ['A'] }, { A: 'x', SECRET: 'y' })).env).toEqual({ A: 'x' })
    expect((await read({ graphs }, { SECRET: 'y' })).env).toEqual({})
  })

  it('D-64, P-18: reads no variable of the environment, and no env file, for code that was deployed', async () => {
    await writeFile(join(folder, 'stealing.env'), 'KEY=${SECRETS_KEY}\n')
    for (const env of [['SECRETS_KEY'], 'stealing.env', { KEY: '${SECRETS_KEY}' }]) {
      const path = join(folder, 'langgraph.json')
      await writeFile(path, JSON.stringify({ graphs, env }))
      const file = await readDeploymentFile(path, { SECRETS_KEY: 'k' }, { A: '1' })
      expect(file.env).toEqual({ A: '1' })
    }
  })

  it('reads references in an env file, to earlier variables and to the environment', async () => {
    const content = ['A=1', 'B="${A}2 ${HOME}"', "C='${NOT_SET}-${NOT_SET:-x}'", 'D=$A'].join('\n')
    await writeFile(join(folder, 'references.env'), content)
    const { env } = await read({ graphs, env: 'references.env' }, { HOME: '/h', SECRET: 'y' })
    expect(env).toEqual({ A: '1', B: '12 /h', C: '-x', D: '$A' })
  })

  it('reads a project whose env file is not there yet, and says which file to copy', async () => {
    const { env, missing_env } = await read({ graphs, env: 'none.env' })
    expect(env).toEqual({})
    expect(missing_env).toMatch(/^There is no \S+none\.env, which .* so it gives the graphs no variables\.$/)
    await writeFile(join(folder, '.env.example'), 'A=\n')
    const named = await read({ graphs, env: 'none.env' })
    expect(named.missing_env).toMatch(/Copy it and fill it in: cp \S+\.env\.example \S+none\.env$/)
    expect((await read({ graphs })).missing_env).toBeNull()
  })

  it('finds the embedding function from the folder of the file, with and without a dot', async () => {
    for (const embed of ['./src/embed.ts:embed', 'src/embed.ts:embed', `${folder}/src/embed.ts:embed`])
      expect((await read({ graphs, store: { index: { embed } } })).store_index).toEqual({
        embed: `${folder}/src/embed.ts:embed`,
      })
  })

  it('makes local dependencies importable in Python', async () => {
    const dependencies = ['.', './libs/common', '../shared', 'requests']
    const paths = [join(folder, 'libs/common'), join(folder, '../shared')].join(':')
    expect((await read({ graphs, dependencies })).env).toEqual({ PYTHONPATH: paths })
    const env = { PYTHONPATH: '/own' }
    expect((await read({ graphs, dependencies, env })).env).toEqual({ PYTHONPATH: `${paths}:/own` })
    expect((await read({ graphs, dependencies: ['.'] })).env).toEqual({})
  })

  it('reads defaults of graphs from LANGGRAPH_CONFIG in env', async () => {
    const agent = { configurable: { model: 'm' }, recursion_limit: 9, context: { tone: 'dry' } }
    const LANGGRAPH_CONFIG = JSON.stringify({ agent, 'not here': {} })
    const { context, ...config } = agent
    expect((await read({ graphs, env: { LANGGRAPH_CONFIG } })).graphs).toMatchObject([{ config, context }])
    await writeFile(join(folder, '.env'), `LANGGRAPH_CONFIG='${LANGGRAPH_CONFIG}'\n`)
    expect((await read({ graphs, env: '.env' })).graphs).toMatchObject([{ config, context }])
    expect((await read({ graphs }, { LANGGRAPH_CONFIG })).graphs).toMatchObject([EMPTY])
  })

  it.each([
    [
      'defaults that are not JSON',
      { graphs, env: { LANGGRAPH_CONFIG: 'model=m' } },
      /LANGGRAPH_CONFIG.*; it is/,
    ],
    [
      'defaults of a graph that are not a map',
      { graphs, env: { LANGGRAPH_CONFIG: '{"a":1}' } },
      /"a" is not/,
    ],
    [
      'defaults whose context is not a map',
      { graphs, env: { LANGGRAPH_CONFIG: '{"a":{"context":"x"}}' } },
      /"a" is not/,
    ],
    ['not JSON', '{', /not valid JSON/],
    ['no object', '[]', /JSON object/],
    ['no graphs', { graphs: {} }, /names no graphs/],
    ['a graph without a path', { graphs: { agent: {} } }, /graph "agent" needs a path/],
    ['an env file that is a folder', { graphs, env: '.' }, /under "env", cannot be read/],
    ['a variable that is not there', { graphs, env: ['NOT_SET'] }, /lacks NOT_SET/],
    ['an env of another kind', { graphs, env: 3 }, /"env" must be/],
    [
      'P-21: encryption, which nothing would do',
      { graphs, encryption: { path: './e.py:encryption' } },
      /"encryption" is not supported here/,
    ],
    ['a model for embeddings', { graphs, store: { index: { embed: 'openai:x' } } }, /"openai:x", which only/],
    [
      'an embedding function in a language without graphs',
      { graphs: { a: './a.py:g' }, store: { index: { embed: './e.ts:f' } } },
      /only a project with JavaScript or TypeScript graphs/,
    ],
    ...['nothing', './embed', 3, undefined].map((embed): [string, object, RegExp] => [
      `${embed} for embeddings`,
      { graphs, store: { index: { embed, dims: 3 } } },
      /"store\.index\.embed" must be/,
    ]),
    ['an auth handler that is only a path', { graphs, auth: './auth.py:auth' }, /"auth" must be a map/],
    ['an auth handler in a list', { graphs, auth: ['./auth.py:auth'] }, /"auth" must be a map/],
    ['an auth handler whose path is no text', { graphs, auth: { path: 3 } }, /"auth\.path" must be a path/],
    ['an auth handler with an empty path', { graphs, auth: { path: '' } }, /"auth\.path" must be a path/],
    ['an HTTP app that is no path', { graphs, http: { app: { path: './a.py:a' } } }, /"http\.app" must be/],
    ['an index that is no map', { graphs, store: { index: true } }, /"store\.index\.embed" must be/],
  ])('reports the error: %s', async (_name, config, message) => {
    await expect(read(config)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringMatching(message),
    })
  })

  it.each([
    ['{\n  // mine\n  "graphs": {}\n}', 'JSON has no comments: remove them.'],
    ['{"graphs": {"agent": "./a.ts:graph",}}', 'JSON has no comma before a closing bracket: remove it.'],
    ["{'graphs': {}}", 'JSON has double quotes only: replace the single ones.'],
  ])('says how to correct %j', async (content, advice) => {
    const file = join(folder, 'broken.json')
    await writeFile(file, content)
    await expect(readDeploymentFile(file, {})).rejects.toThrow(` ${advice}`)
  })

  it('reports a module that is not a langgraph.json, and reads a file with a byte order mark', async () => {
    await writeFile(join(folder, 'agent.ts'), 'export const graph = 1')
    await expect(readDeploymentFile(join(folder, 'agent.ts'), {})).rejects.toThrow(
      'GRAPHS and --graphs name the langgraph.json of a project.',
    )
    await writeFile(join(folder, 'bom.json'), '\uFEFF{"graphs": {"agent": "./a.ts:graph"}}')
    expect(await readDeploymentFile(join(folder, 'bom.json'), {})).toMatchObject({
      graphs: [{ graph_id: 'agent' }],
    })
  })

  it('names the file that cannot be read', async () => {
    await expect(readDeploymentFile(join(folder, 'none.json'), {})).rejects.toThrow(
      /There is no file .*none\.json\. GRAPHS and --graphs name/,
    )
    await expect(readDeploymentFile(folder, {})).rejects.toThrow(
      `${folder} is a folder. GRAPHS and --graphs name a file, such as ${join(folder, 'langgraph.json')}.`,
    )
  })
})

describe('the headers that graphs may read', () => {
  const headers = {
    'X-Flavour': 'sweet',
    'x-api-key': 'secret',
    'x-tenant-id': 't',
    'x-service-key': 's',
    'user-agent': 'node',
    authorization: 'Bearer secret',
    'x-many': ['a', 'b'],
  }

  it('lets x-* and the user agent through, never keys', async () => {
    const { configurable_headers: rule } = await read({ graphs })
    expect(pickConfigurableHeaders(rule, headers)).toEqual({ 'x-flavour': 'sweet', 'user-agent': 'node' })
  })

  it('applies the patterns of the file', async () => {
    const { configurable_headers: rule } = await read({
      graphs,
      http: { configurable_headers: { includes: ['x-*', 'auth*ation', '*-agent'], excludes: ['x-f*r'] } },
    })
    expect(pickConfigurableHeaders(rule, headers)).toEqual({
      'user-agent': 'node',
      authorization: 'Bearer secret',
    })
  })
})
