import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type SourceFaults, sourceFaults } from './source-faults.ts'

let root: string
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'weir-faults-')))
})
afterEach(() => rm(root, { recursive: true }))

const PROJECT = 'apps/agent'

interface Given {
  files: Readonly<Record<string, string>>
  dependencies?: string[]
  graph?: string
}

/** The faults of the project in apps/agent, in whose place the root is written as ROOT. */
async function faultsOf({ files, dependencies = ['.'], graph = 'graph.ts' }: Given): Promise<SourceFaults> {
  for (const [path, text] of Object.entries({ [`${PROJECT}/graph.ts`]: '', ...files })) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    if (!path.endsWith('/')) await writeFile(join(root, path), text)
    else await mkdir(join(root, path), { recursive: true })
  }
  const graphs = [{ id: 'agent', language: 'javascript' as const, path: graph }]
  const { errors, warnings } = await sourceFaults({
    dir: join(root, PROJECT),
    config: 'langgraph.json',
    graphs,
    dependencies,
  })
  const short = (texts: string[]): string[] => texts.map((text) => text.replaceAll(root, 'ROOT'))
  return { errors: short(errors), warnings: short(warnings) }
}

const MOVE =
  'Put langgraph.json into ROOT, write its paths from there (such as "./apps/agent/…"), and run: weir deploy --config ROOT/langgraph.json'
const packageJson = (dependencies: object, more: object = {}): string =>
  JSON.stringify({ dependencies, ...more })

describe('P-20: what is known of a project before its upload', () => {
  it('has no fault of a project that needs only its folder', async () => {
    const files = {
      'apps/agent/package.json': packageJson({ '@langchain/langgraph': '^1', local: 'file:./lib' }),
    }
    expect(await faultsOf({ files, dependencies: ['.', './lib', 'langchain'] })).toEqual({
      errors: [],
      warnings: [],
    })
  })

  it('names packages of a workspace of pnpm, and a command that works', async () => {
    const files = {
      'pnpm-workspace.yaml': "packages:\n  - 'libs/*'\n  - apps/*\n",
      'apps/agent/package.json': packageJson({ '@acme/lib': 'workspace:*', zod: 'catalog:' }),
      'libs/lib/package.json': JSON.stringify({ name: '@acme/lib' }),
    }
    const { errors, warnings } = await faultsOf({ files })
    expect(warnings).toEqual([])
    expect(errors).toEqual([
      `package.json needs packages of the workspace in ROOT, and only the folder of langgraph.json is uploaded: @acme/lib (workspace:*), zod (catalog:). ${MOVE}`,
    ])
  })

  it('warns of packages of a workspace of npm, which may be published', async () => {
    const files = {
      'package.json': packageJson({}, { workspaces: { packages: ['libs/*', 'apps/*'] } }),
      'apps/agent/package.json': packageJson({ '@acme/lib': '^1.0.0', langchain: '^1' }),
      'libs/lib/package.json': JSON.stringify({ name: '@acme/lib' }),
    }
    const { errors, warnings } = await faultsOf({ files })
    expect(errors).toEqual([])
    expect(warnings).toEqual([expect.stringContaining('registry')])
    expect(warnings[0]).toContain('@acme/lib (^1.0.0). If they are not published: Put langgraph.json')
  })

  it('has no fault of a project that is the root of its workspace', async () => {
    const files = {
      'apps/agent/package.json': packageJson({ '@acme/lib': 'workspace:*' }, { workspaces: ['libs/*'] }),
    }
    expect((await faultsOf({ files })).errors).toEqual([])
  })

  it('names graphs and dependencies outside of the folder, once', async () => {
    const { errors } = await faultsOf({
      files: {},
      dependencies: ['../../libs/common'],
      graph: '../other/graph.ts',
    })
    expect(errors).toEqual([
      `langgraph.json names what is outside of its folder, and only this folder is uploaded: graph "agent" (../other/graph.ts), a dependency (../../libs/common). ${MOVE}`,
    ])
  })

  it('names members of a workspace of uv', async () => {
    const files = {
      'pyproject.toml': '[tool.uv.workspace]\nmembers = ["libs/*", "apps/*"]\n',
      'apps/agent/pyproject.toml':
        '[project]\nname = "agent"\n\n[tool.uv.sources]\ncommon = { workspace = true }\n',
    }
    expect((await faultsOf({ files })).errors).toEqual([
      `pyproject.toml needs packages of a workspace of uv, and only the folder of langgraph.json is uploaded: common. ${MOVE}`,
    ])
  })

  it('refuses a submodule that is missing and needed, and warns of another', async () => {
    const files = {
      '.git/HEAD': '',
      '.gitmodules':
        '[submodule "a"]\n\tpath = apps/agent/libs/common\n[submodule "b"]\n\tpath = apps/agent/data\n[submodule "c"]\n\tpath = docs\n',
      'apps/agent/libs/common/': '',
      'apps/agent/data/': '',
    }
    expect(await faultsOf({ files, dependencies: ['./libs/common/src'] })).toEqual({
      errors: ['The git submodule libs/common is empty. Run: git submodule update --init libs/common'],
      warnings: ['The git submodule data is empty; if it is needed, run: git submodule update --init data'],
    })
    await writeFile(join(root, 'apps/agent/libs/common/a.py'), '')
    expect((await faultsOf({ files: {}, dependencies: ['./libs/common/src'] })).errors).toEqual([])
  })
})
