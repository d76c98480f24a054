import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { langgraphErrors } from './langgraph-faults.ts'
import { newFolder } from '../../../test/support/folder.ts'

async function errorsOf(
  language: 'javascript' | 'python',
  files: Readonly<Record<string, string>>,
  dependencies: string[] = ['.'],
): Promise<string[]> {
  const dir = await newFolder()
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true })
    await writeFile(join(dir, path), text)
  }
  return await langgraphErrors({ dir, graphs: [{ id: 'agent', language, path: 'agent' }], dependencies })
}

const manifest = (version: string): string =>
  JSON.stringify({ dependencies: { '@langchain/langgraph': version } })
const lock = (version: string): string =>
  JSON.stringify({ packages: { 'node_modules/@langchain/langgraph': { version } } })

it.each(['0.2.57', '^0.2.5', '~0.3', '0.3.x'])('P-28: names LangGraph %s for TypeScript', async (version) => {
  const words = `package.json has LangGraph ${version}, and graphs need 0.4 or newer: `
  const packages = ' @langchain/langgraph@latest @langchain/core@latest'
  const files = { 'package.json': manifest(version) }
  expect(await errorsOf('javascript', files)).toEqual([`${words}npm install${packages}`])
  expect(await errorsOf('javascript', { ...files, 'pnpm-lock.yaml': '' })).toEqual([
    `${words}pnpm add${packages}`,
  ])
  expect(await errorsOf('python', files)).toEqual([])
})

it('P-28: believes a lock file more than a range', async () => {
  const old = { 'package.json': manifest('>=0.2'), 'package-lock.json': lock('0.2.8') }
  expect(await errorsOf('javascript', old)).toEqual([
    expect.stringMatching(/^package-lock\.json has .* 0\.2\.8,/),
  ])
  const fresh = { 'package.json': manifest('^0.2'), 'package-lock.json': lock('1.7.3') }
  expect(await errorsOf('javascript', fresh)).toEqual([])
})

it.each(['^0.4.2', '^1.0.0', '>=0.2', '*', 'latest', '^0.2 || ^1', 'workspace:*', '0.30.1'])(
  'says nothing of %s for TypeScript',
  async (version) => {
    expect(await errorsOf('javascript', { 'package.json': manifest(version) })).toEqual([])
  },
)

it.each([
  ['pyproject.toml', 'dependencies = [\n  "langgraph>=0.4.5,<0.5",\n  "langchain"\n]', '>=0.4.5,<0.5'],
  ['pyproject.toml', 'dependencies = ["langchain", "langgraph<0.5"]', '<0.5'],
  ['pyproject.toml', '[tool.poetry.dependencies]\nlanggraph = "^0.6.1"\n', '^0.6.1'],
  ['requirements.txt', 'langgraph[x]==0.2.7  # pinned\n', '==0.2.7'],
  ['requirements.txt', 'langgraph ~=0.4\n', '~=0.4'],
  ['requirements.txt', 'langgraph<1\n', '<1'],
])('P-28: names a LangGraph of Python that is too old: %s %j', async (file, text, version) => {
  expect(await errorsOf('python', { [file]: text })).toEqual([
    `${file} asks for LangGraph ${version}, and graphs need version 1: write "langgraph>=1,<2" there.`,
  ])
})

it('P-28: names it in folders and packages of dependencies, and in uv.lock', async () => {
  expect(await errorsOf('python', { 'libs/a/requirements.txt': 'langgraph==0.5' }, ['./libs/a'])).toEqual([
    expect.stringContaining('libs/a/requirements.txt asks for LangGraph ==0.5,'),
  ])
  expect(await errorsOf('python', {}, ['.', 'langgraph<0.7'])).toEqual([
    expect.stringContaining('langgraph.json asks for LangGraph <0.7,'),
  ])
  const locked = (version: string) => ({
    'uv.lock': `[[package]]\nname = "langgraph"\nversion = "${version}"\n`,
    'pyproject.toml': '"langgraph<1"',
  })
  expect(await errorsOf('python', locked('0.6.1'))).toEqual([
    'uv.lock has LangGraph 0.6.1, and graphs need version 1: uv add "langgraph>=1,<2"',
  ])
  expect(await errorsOf('python', locked('1.2.24'))).toEqual([])
})

it.each([
  'langgraph>=0.2',
  'langgraph',
  'langgraph>=1,<2',
  'langgraph-sdk==0.1',
  'langgraph<1.5',
  'langgraph<=1',
  'langgraph==1.0',
])('says nothing of %s for Python', async (line) => {
  const files = { 'requirements.txt': line, 'pyproject.toml': `dependencies = ["x",\n"${line}"]` }
  expect(await errorsOf('python', files)).toEqual([])
})
