import { describe, expect, it } from 'vitest'
import { readProjectDemands } from './project-demands.ts'

const NODE = {
  node: 24,
  languageOf: (spec: string) => (/\.ts(:|$)/.test(spec) ? ('javascript' as const) : ('python' as const)),
}
const read = (file: object) =>
  readProjectDemands(JSON.stringify({ graphs: { a: './a.ts:g' }, ...file }), NODE)

describe('P-21: what langgraph.json asks and the server cannot do', () => {
  it.each([
    [{ encryption: { path: './e.py:x' } }, /"encryption"/],
    [{ priority: 'high' }, /"priority"/],
    [{ checkpointer: { path: './c.py:x' } }, /"checkpointer.path"/],
    [{ store: { path: './s.py:make' } }, /"store.path" is not supported here: the server keeps/],
    [{ dockerfile_lines: ['RUN x'] }, /"dockerfile_lines" is not supported here: the runtimes/],
    [{ base_image: 'x' }, /"base_image" is not supported here: the runtimes/],
    [{ graphs: {} }, /"graphs" has no graph/],
  ])('%j fails the build', (file, message) => {
    expect(() => read(file)).toThrow(message)
  })

  it('P-21: a byte order mark before the text is skipped', () => {
    const { graphs } = readProjectDemands('\uFEFF{"graphs": {"a": "./a.ts:g"}}', NODE)
    expect(graphs).toEqual(['a'])
  })

  it('text that is not a JSON object fails the build', () => {
    for (const text of ['', '[]', '{', 'null'])
      expect(() => readProjectDemands(text, NODE)).toThrow(
        expect.objectContaining({ code: 'build_failed', message: 'langgraph.json is not a JSON object.' }),
      )
  })

  it('settings that change little give a warning; those that ask for nothing give none', () => {
    expect(read({ dockerfile_lines: [], checkpointer: { ttl: {} }, node_version: '24' }).warnings).toEqual([])
    const { warnings } = read({
      node_version: '20',
      image_distro: 'wolfi',
      api_version: '0.3',
      keep_pkg_tools: false,
    })
    expect(warnings).toEqual([
      'langgraph.json: "image_distro" is ignored: this server makes no image.',
      'langgraph.json: "api_version" is ignored: this server makes no image.',
      'langgraph.json asks for Node 20; the graphs run on Node 24.',
    ])
  })

  it('P-21: nested settings that have no effect give a warning', () => {
    const { warnings } = read({
      pip_installer: 'uv',
      checkpointer: { serde: { pickle_fallback: true }, ttl: { default_ttl: 5 } },
      auth: { path: './a.ts:auth', cache: { cache_keys: ['authorization'] }, openapi: { security: [{}] } },
      http: { middleware_order: 'auth_first', logging_headers: { includes: ['x-a'] }, app: './a.ts:app' },
      store: { ttl: {}, index: {} },
    })
    expect(warnings.map((text) => /"(.*)" is ignored/.exec(text)?.[1])).toEqual([
      'pip_installer',
      'checkpointer.serde',
      'auth.cache',
      'auth.openapi',
      'http.middleware_order',
      'http.logging_headers',
    ])
  })

  it('graphs and a map of env are read', () => {
    expect(read({ env: { A: '1' } })).toMatchObject({ graphs: ['a'], env: { A: '1' }, warnings: [] })
    expect(read({ env: '.env' }).env).toEqual({})
  })

  it('P-28: the languages of graphs, and what Python graphs need, are read', () => {
    expect(read({})).toMatchObject({ javascript: true, python: undefined })
    const none = { python_version: undefined, pip_config_file: undefined, uses_uv: false }
    const graphs = { a: './a.py:g', b: { path: 'pkg.b:g' } }
    expect(read({ graphs, dependencies: ['.', 'x>1'] })).toMatchObject({
      javascript: false,
      python: { ...none, dependencies: ['.', 'x>1'] },
    })
    const asked = { python_version: '3.12', pip_config_file: 'pip.conf', source: { kind: 'uv' } }
    expect(read({ graphs: { ...graphs, c: './c.ts:g' }, ...asked })).toMatchObject({
      javascript: true,
      python: { dependencies: [], python_version: '3.12', pip_config_file: 'pip.conf', uses_uv: true },
    })
    expect(read({ graphs, auth: { path: './auth.ts:a' } })).toMatchObject({ javascript: true })
    expect(read({ graphs, http: { app: './app.py:a' } })).toMatchObject({ javascript: false })
    expect(read({ auth: { path: './auth.py:a' } })).toMatchObject({ javascript: true, python: none })
  })
})
