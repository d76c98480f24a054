import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { graphsText, sourceWarnings } from './source-warnings.ts'
import { packSource } from './pack-source.ts'
import { readProject } from './project.ts'
import { newFolder } from '../../../test/support/folder.ts'

let dir: string
beforeEach(async () => void (dir = await newFolder()))

const at = (path: string): string => join(dir, path)
async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(at(path)), { recursive: true })
    await writeFile(at(path), text)
  }
}
const project = (config: object = {}, name = 'langgraph.json') => {
  const graphs = { agent: './src/agent.ts:graph' }
  return write({ [name]: JSON.stringify({ graphs, ...config }) })
}
const read = () => readProject({ config: at('langgraph.json') })

describe('a project that is deployed', () => {
  it.each<[text: string, words: string]>([
    ['{', 'langgraph.json is not valid JSON: '],
    ['[]', 'langgraph.json is not a JSON object.'],
    ['{"graphs":{}}', 'langgraph.json names no graph: "graphs" maps names to paths'],
    ['{"graphs":{"agent":7}}', 'langgraph.json: graph "agent" needs a path such as "./agent.ts:graph".'],
  ])('%s is refused with what is wrong and where', async (text, words) => {
    await write({ 'langgraph.json': text })
    await expect(read()).rejects.toThrow(words)
    await expect(read()).rejects.toThrow(dir)
  })

  it('a langgraph.json that is not there is named, and a folder in its place', async () => {
    await expect(read()).rejects.toThrow(`There is no langgraph.json at ${at('langgraph.json')}: `)
    const words = `${dir} is a folder: --config names a file, such as ${at('langgraph.json')}.`
    await expect(readProject({ config: dir })).rejects.toThrow(words)
  })

  it('a langgraph.json with a byte order mark, as of editors on Windows, is read', async () => {
    await write({ 'langgraph.json': '\uFEFF{"graphs":{"agent":"./agent.py:graph"}}' })
    expect(await read()).toMatchObject({ graphs: [{ id: 'agent', language: 'python', path: 'agent.py' }] })
  })
})

describe('the variables of a project that is deployed', () => {
  it('know earlier ones, as at LangGraph: ${A}', async () => {
    await project({ env: './own.env' })
    await write({ 'own.env': 'A=1\nB="${A}2"\nC=${WEIR_NO_SUCH:-x}\n' })
    expect(await read()).toMatchObject({ env: { A: '1', B: '12', C: 'x' }, missing_env: null })
  })

  it('may be missing, which is said with the file to copy', async () => {
    await project({ env: '.env' })
    await write({ '.env.example': 'A=\n' })
    const { env, missing_env } = await read()
    expect([env, missing_env]).toEqual([
      {},
      expect.stringContaining(`cp ${at('.env.example')} ${at('.env')}`),
    ])
    await project()
    expect((await read()).missing_env).toBeNull()
  })
})

describe('P-42: what weir deploy says of a source', () => {
  const texts = async (): Promise<string[]> => {
    const found = await read()
    const packed = await packSource(dir)
    await packed.remove()
    return [graphsText(found), ...sourceWarnings(found, packed.files)]
  }

  it('has the graphs, and the Python that Python graphs ask for', async () => {
    await project({ python_version: '3.12', graphs: { agent: './agent.py:graph', other: 'pkg.other:graph' } })
    await write({ 'agent.py': '' })
    expect(await texts()).toEqual(['2 graphs: agent, other (python 3.12)'])
    await project({ graphs: { agent: './agent.py:graph', ts: { path: './ts.ts:graph' } } })
    await write({ 'ts.ts': '', 'package.json': '{}', 'yarn.lock': '' })
    expect(await texts()).toEqual(['2 graphs: agent, ts (javascript, python)'])
  })

  it('warns of a graph whose file is not part of the source, and says why', async () => {
    const graphs = {
      a: './src/agnt.ts:graph',
      b: './dist/b.js:graph',
      d: './src/d:graph',
    }
    await project({ graphs })
    await write({ '.gitignore': 'dist/\n', 'dist/b.js': '', 'src/agent.ts': '', 'src/d.ts': '' })
    await write({ 'package.json': '{}', 'package-lock.json': '{}' })
    expect(await texts()).toEqual([
      '3 graphs: a, b, d',
      'Graph "a": there is no file src/agnt.ts, so it fails unless the build makes the file.',
      'Graph "b": .gitignore or .dockerignore leaves out dist/b.js, so it fails unless the build makes the file.',
    ])
  })

  it('warns of a project without package.json or without a lock file', async () => {
    await project()
    await write({ 'src/agent.ts': '' })
    expect(await texts()).toEqual(['1 graph: agent', expect.stringMatching(/^There is no package\.json/)])
    await write({ 'package.json': '{}' })
    expect(await texts()).toEqual(['1 graph: agent', expect.stringMatching(/^There is no lock file/)])
    await write({ 'pnpm-lock.yaml': '' })
    expect(await texts()).toEqual(['1 graph: agent'])
  })
})
